-- The networks that a merchant's new orders may be paid on; null for all.
ALTER TABLE merchants ADD COLUMN chain_ids int[];
