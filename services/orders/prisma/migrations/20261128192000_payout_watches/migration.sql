-- In which generation of the listener's history a payout address was last asked to be watched, and from which block on; null where the time since when it was
-- one decides that. Those that are known already are watched from now on: what came to them before is not read.
ALTER TABLE payout_addresses ADD COLUMN asked_generation uuid;
ALTER TABLE payout_addresses ADD COLUMN watch_from bigint;
UPDATE payout_addresses SET watch_from = (SELECT max(head_block) FROM chain_cursors);
CREATE INDEX payout_addresses_asked ON payout_addresses (asked_generation);
