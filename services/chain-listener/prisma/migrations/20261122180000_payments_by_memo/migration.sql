-- What was paid for an order is asked before each payer's signature is taken and submitted.
-- Outside a transaction; a first try that was cut off may have left it invalid.
DROP INDEX CONCURRENTLY IF EXISTS payments_by_memo;
CREATE INDEX CONCURRENTLY payments_by_memo ON payments (chain_id, memo);
