-- A list by type or by what is not over yet seeks too. The conditions are such that a statement with parameters is seen to fit them.
CREATE INDEX deliveries_merchant_type ON deliveries (merchant_id, event_type, id DESC);
CREATE INDEX deliveries_merchant_pending ON deliveries (merchant_id, id DESC) WHERE next_attempt_at IS NOT NULL;
DROP INDEX deliveries_merchant_dead;
CREATE INDEX deliveries_merchant_dead ON deliveries (merchant_id, id DESC) WHERE dead_reason IS NOT NULL;
