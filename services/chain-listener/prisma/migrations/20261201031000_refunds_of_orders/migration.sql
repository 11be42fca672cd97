-- The refunds of an order that orders asks about once more.
DROP INDEX CONCURRENTLY IF EXISTS refund_watches_by_order;
CREATE INDEX CONCURRENTLY refund_watches_by_order ON refund_watches (chain_id, order_id);
