-- A merchant's plans that are due, the longest first: of thousands that are due at once only the first few are read at each look.
DROP INDEX CONCURRENTLY IF EXISTS subscriptions_due_of_merchant;
CREATE INDEX CONCURRENTLY subscriptions_due_of_merchant ON subscriptions (merchant_id, wake_at) WHERE wake_at IS NOT NULL;
