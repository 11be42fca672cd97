-- Payments that a confirmed range, a block that is gone or the answer to a watch may take away, each found without a look at the others.
DROP INDEX CONCURRENTLY IF EXISTS payments_detected;
CREATE INDEX CONCURRENTLY payments_detected ON payments (block_number) WHERE status = 'detected';
DROP INDEX CONCURRENTLY IF EXISTS payments_detected_of_order;
CREATE INDEX CONCURRENTLY payments_detected_of_order ON payments (order_id) WHERE status = 'detected';
DROP INDEX CONCURRENTLY IF EXISTS payments_block_hash_idx;
CREATE INDEX CONCURRENTLY payments_block_hash_idx ON payments (block_hash);
DROP INDEX CONCURRENTLY IF EXISTS unmatched_payments_detected;
CREATE INDEX CONCURRENTLY unmatched_payments_detected ON unmatched_payments (block_number) WHERE status = 'detected';
DROP INDEX CONCURRENTLY IF EXISTS unmatched_payments_block_hash_idx;
CREATE INDEX CONCURRENTLY unmatched_payments_block_hash_idx ON unmatched_payments (block_hash);
DROP INDEX CONCURRENTLY IF EXISTS sweeps_block_hash_idx;
CREATE INDEX CONCURRENTLY sweeps_block_hash_idx ON sweeps (block_hash);
