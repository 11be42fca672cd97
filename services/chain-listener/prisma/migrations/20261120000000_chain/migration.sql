-- How far a chain is read, confirmed and told. A write that names an old epoch makes it NULL, which the column refuses:
-- whoever lost the lease changes nothing.
CREATE TABLE chain_cursor (
  chain_id bigint PRIMARY KEY,
  epoch bigint NOT NULL,
  start_block bigint NOT NULL,
  genesis_hash text,
  scanned_number bigint,
  scanned_hash text,
  scanned_time timestamptz,
  confirmed_number bigint,
  confirmed_time timestamptz,
  announced_number bigint,
  head_number bigint,
  sequence bigint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE blocks (
  chain_id bigint NOT NULL,
  number bigint NOT NULL,
  hash text NOT NULL,
  parent_hash text NOT NULL,
  time timestamptz NOT NULL,
  PRIMARY KEY (chain_id, number)
);

CREATE TABLE payments (
  chain_id bigint NOT NULL,
  tx_hash text NOT NULL,
  ordinal integer NOT NULL,
  state text NOT NULL CHECK (state IN ('detected', 'confirmed', 'orphaned')),
  revision integer NOT NULL,
  router text NOT NULL,
  memo text NOT NULL,
  merchant text NOT NULL,
  payer text NOT NULL,
  share numeric(78, 0) NOT NULL,
  fee numeric(78, 0) NOT NULL,
  block_number bigint NOT NULL,
  block_hash text NOT NULL,
  block_time timestamptz NOT NULL,
  log_index integer NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, tx_hash, ordinal)
);
-- A reorganisation asks for everything above a block.
CREATE INDEX payments_by_block ON payments (chain_id, block_number);
-- Confirming asks for what is still detected; that is never many.
CREATE INDEX payments_detected ON payments (chain_id, block_number) WHERE state = 'detected';

CREATE TABLE outbox (
  id uuid PRIMARY KEY,
  type text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  claimed_until timestamptz,
  sent_at timestamptz
);
CREATE INDEX outbox_unsent ON outbox (created_at) WHERE sent_at IS NULL;

CREATE TABLE inbox (
  event_id uuid PRIMARY KEY,
  received_at timestamptz NOT NULL DEFAULT now()
);
