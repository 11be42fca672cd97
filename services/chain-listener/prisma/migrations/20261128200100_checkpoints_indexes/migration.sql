-- What no checkpoint has yet, what each one has, and what is gone of it, each found without a look at the others.
DROP INDEX CONCURRENTLY IF EXISTS payments_unchecked;
CREATE INDEX CONCURRENTLY payments_unchecked ON payments (chain_id, block_number) WHERE checkpoint IS NULL AND kind <> 'transfer';
DROP INDEX CONCURRENTLY IF EXISTS payments_by_checkpoint;
CREATE INDEX CONCURRENTLY payments_by_checkpoint ON payments (chain_id, checkpoint) WHERE checkpoint IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS payments_gone;
CREATE INDEX CONCURRENTLY payments_gone ON payments (chain_id, checkpoint_gone) WHERE checkpoint IS NOT NULL AND state = 'orphaned';
