-- A hash over what was booked of some blocks, and over the checkpoint before it. Rows are inserted once and never changed.
CREATE TABLE checkpoints (
  chain_id bigint NOT NULL,
  to_block bigint NOT NULL,
  from_block bigint NOT NULL,
  block_hash text NOT NULL,
  token text NOT NULL,
  routers text[] NOT NULL,
  payments integer NOT NULL,
  previous_hash text NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (chain_id, to_block),
  UNIQUE (chain_id, previous_hash)
);
-- `checkpoint`: the to_block of the one that has this log; `checkpoint_gone`: of the one that states that it is gone.
ALTER TABLE payments ADD COLUMN checkpoint bigint, ADD COLUMN checkpoint_gone bigint;
