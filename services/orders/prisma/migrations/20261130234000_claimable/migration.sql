-- Payments that an order may claim which becomes known after them. Without it the look for them, each minute, read all that were ever unmatched.
DROP INDEX CONCURRENTLY IF EXISTS unmatched_payments_claimable;
CREATE INDEX CONCURRENTLY unmatched_payments_claimable ON unmatched_payments (memo)
  WHERE reason IN ('unknown_memo', 'wrong_chain') AND memo <> '0000000000000000000000000000000000000000000000000000000000000000';
