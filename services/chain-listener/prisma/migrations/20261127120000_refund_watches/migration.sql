-- Nonces of refunds, of which orders is informed when the token has them used or cancelled at a confirmed block; `published_…` is what it was last informed of.
CREATE TABLE refund_watches (
  chain_id bigint NOT NULL,
  refund_id uuid NOT NULL,
  order_id uuid NOT NULL,
  from_address text NOT NULL,
  payee text NOT NULL,
  units numeric(78, 0) NOT NULL,
  nonce text NOT NULL,
  watch_from bigint NOT NULL,
  -- Unix seconds; null while nothing was signed.
  valid_before bigint,
  -- Orders is to be answered at the next look.
  asked boolean NOT NULL DEFAULT true,
  asked_at timestamptz NOT NULL,
  revision integer NOT NULL DEFAULT 0,
  published_time bigint,
  published_balance numeric(78, 0),
  ended text,
  tx_hash text,
  log_index integer,
  block_number bigint,
  block_time bigint,
  -- Deeper than any reorganisation that is followed: it is not looked at any more.
  is_final boolean NOT NULL DEFAULT false,
  PRIMARY KEY (chain_id, refund_id)
);
CREATE INDEX refund_watches_open ON refund_watches (chain_id, asked_at) WHERE NOT is_final;
