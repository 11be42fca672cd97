-- A list of a span of time seeks: what arrived late has an id of before the span.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_merchant_time;
CREATE INDEX CONCURRENTLY deliveries_merchant_time ON deliveries (merchant_id, created_at);
