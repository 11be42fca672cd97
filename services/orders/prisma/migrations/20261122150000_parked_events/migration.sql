-- Events of the listener that are parked in the dead letters: the order that one may have paid does not expire until it is handled.
CREATE TABLE parked_events (
  event_id UUID PRIMARY KEY,
  chain_id INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  memo TEXT
);
CREATE INDEX parked_events_memo_idx ON parked_events (memo);
-- The exact amount of what no order can hold.
ALTER TABLE unmatched_payments ADD COLUMN exact_units NUMERIC(78, 0);
-- What the listener confirmed is held against these by block.
CREATE INDEX unmatched_payments_block_number_idx ON unmatched_payments (block_number);
CREATE INDEX sweeps_block_number_idx ON sweeps (block_number);
