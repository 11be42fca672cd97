-- The latest time that was ever confirmed on a chain, whatever history its listener has begun since.
ALTER TABLE chain_cursors ADD COLUMN last_time timestamptz(3);
UPDATE chain_cursors SET last_time = confirmed_time;
