-- A merchant's entries on one network: without it a page may pass over all others.
DROP INDEX CONCURRENTLY IF EXISTS entries_merchant_id_chain_id_sequence_idx;
CREATE INDEX CONCURRENTLY entries_merchant_id_chain_id_sequence_idx ON entries (merchant_id, chain_id, sequence);
