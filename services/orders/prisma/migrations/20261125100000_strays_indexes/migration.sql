-- Sweeps by whom they were for, and transfers by the address that they went to: what is known late of either is booked anew.
DROP INDEX CONCURRENTLY IF EXISTS sweeps_merchant;
CREATE INDEX CONCURRENTLY sweeps_merchant ON sweeps (lower(merchant_address), block_time);
DROP INDEX CONCURRENTLY IF EXISTS unmatched_payments_deposit;
CREATE INDEX CONCURRENTLY unmatched_payments_deposit ON unmatched_payments (lower(deposit_address)) WHERE deposit_address IS NOT NULL;
-- What came by sweeps that no order has, for the list of what needs attention.
DROP INDEX CONCURRENTLY IF EXISTS entries_strays;
CREATE INDEX CONCURRENTLY entries_strays ON entries (merchant_id, block_time DESC)
  WHERE kind = 'unmatched' AND payer_address IS NULL AND reverses IS NULL AND units >= 10000;
