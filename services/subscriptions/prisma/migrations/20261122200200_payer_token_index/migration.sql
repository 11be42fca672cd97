DROP INDEX CONCURRENTLY IF EXISTS subscriptions_payer_token;
CREATE UNIQUE INDEX CONCURRENTLY subscriptions_payer_token ON subscriptions (payer_token);
