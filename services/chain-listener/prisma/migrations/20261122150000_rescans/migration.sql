-- Blocks that are read once more, because something may be missing; `read_to` is the last one that was.
CREATE TABLE rescans (
  chain_id BIGINT NOT NULL,
  from_block BIGINT NOT NULL,
  to_block BIGINT NOT NULL,
  read_to BIGINT NOT NULL,
  PRIMARY KEY (chain_id, from_block, to_block)
);
-- Where the rows and the chain differ, until a later look finds it no more. No order expires meanwhile.
CREATE TABLE differences (
  chain_id BIGINT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  block_number BIGINT NOT NULL,
  tx_hash TEXT,
  log_index INTEGER,
  memo TEXT NOT NULL,
  detail TEXT NOT NULL,
  found_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, key)
);
