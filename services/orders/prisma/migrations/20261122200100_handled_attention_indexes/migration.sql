-- What needs attention and is not handled, read from its index alone at any depth; and what is handled.
DROP INDEX CONCURRENTLY IF EXISTS orders_attention_open;
CREATE INDEX CONCURRENTLY orders_attention_open ON orders (merchant_id, id DESC)
  WHERE (exception IS NOT NULL OR (status IN ('underpaid', 'expired') AND confirmed_units >= 10000))
    AND handled_facts IS DISTINCT FROM (status || '/' || coalesce(exception, '') || '/' || confirmed_units::text);
DROP INDEX CONCURRENTLY IF EXISTS orders_handled;
CREATE INDEX CONCURRENTLY orders_handled ON orders (merchant_id, id DESC) WHERE handled_at IS NOT NULL;
