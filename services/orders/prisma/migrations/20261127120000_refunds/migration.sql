-- Money that is to go back from a merchant's wallet, and what the listener last observed of its nonce. A refund is written together with the version of its
-- order, so that two that are decided at once cannot promise more than came.
CREATE TABLE refunds (
  id uuid PRIMARY KEY,
  order_id uuid NOT NULL,
  merchant_id uuid NOT NULL,
  chain_id integer NOT NULL,
  units bigint NOT NULL CHECK (units > 0),
  payee text NOT NULL,
  from_address text NOT NULL,
  nonce text NOT NULL UNIQUE,
  -- No one can have signed the nonce before this block.
  watch_from bigint NOT NULL,
  reason text NOT NULL,
  requested_by text,
  created_at timestamptz(3) NOT NULL,
  cancelled_at timestamptz(3),
  generation uuid,
  revision integer NOT NULL DEFAULT 0,
  -- The confirmed block up to which the nonce is known, and its time.
  known_block bigint,
  known_time timestamptz(3),
  known_at timestamptz(3),
  wallet_units bigint,
  ended text CHECK (ended IN ('transferred', 'cancelled')),
  tx_hash text,
  log_index integer,
  block_number bigint,
  block_time timestamptz(3),
  asked_at timestamptz(3)
);
CREATE INDEX refunds_order_id_idx ON refunds (order_id);
-- Those of which the listener may have to be asked again.
CREATE INDEX refunds_open ON refunds (known_at NULLS FIRST) WHERE ended IS NULL;

-- Every signature that was seen; none is forgotten. One that was seen on the chain alone has no known end.
CREATE TABLE refund_signatures (
  refund_id uuid NOT NULL,
  valid_before timestamptz(3) NOT NULL,
  signature text,
  seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (refund_id, valid_before)
);
