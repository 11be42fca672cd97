-- The block up to which orders had everything at its last report: one that moves on is a backlog, and not a loss.
ALTER TABLE chain_cursor ADD COLUMN followed_watermark bigint;
