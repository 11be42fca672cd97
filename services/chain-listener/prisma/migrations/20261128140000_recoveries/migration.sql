-- Foreign tokens that are to be sent on from a deposit address: the latest recovery of each, what became of it at a confirmed block, and why it is not tried any more.
CREATE TABLE recoveries (
  chain_id bigint NOT NULL,
  order_id uuid NOT NULL,
  -- The zero address for the network's own coin.
  token text NOT NULL,
  recovery_id uuid NOT NULL,
  memo text NOT NULL,
  router text NOT NULL,
  merchant text NOT NULL,
  watch_from bigint NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  -- Orders is to be answered at the next look.
  asked boolean NOT NULL DEFAULT true,
  asked_at timestamptz NOT NULL,
  revision integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  retry_at timestamptz,
  failure text,
  tx_hash text,
  units numeric(78, 0),
  block_number bigint,
  block_time bigint,
  -- Deeper than any reorganisation that is followed: it is not looked at any more.
  is_final boolean NOT NULL DEFAULT false,
  PRIMARY KEY (chain_id, order_id, token)
);
CREATE INDEX recoveries_open ON recoveries (chain_id, asked_at) WHERE NOT is_final;
CREATE INDEX recoveries_due ON recoveries (chain_id, requested_at) WHERE block_number IS NULL AND failure IS NULL;
-- Every row is of a kind that was allowed before.
ALTER TABLE relays DROP CONSTRAINT relays_kind_check, ADD CONSTRAINT relays_kind_check CHECK (kind IN ('sweep', 'authorization', 'refund', 'recovery')) NOT VALID;
