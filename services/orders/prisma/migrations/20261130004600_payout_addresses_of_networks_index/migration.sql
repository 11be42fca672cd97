-- Deposit addresses of orders that are paid out elsewhere on some network: on all networks of the others it is the one that is a column.
DROP INDEX CONCURRENTLY IF EXISTS orders_deposit_addresses;
CREATE INDEX CONCURRENTLY orders_deposit_addresses ON orders USING gin (networks jsonb_path_ops) WHERE merchant_addresses <> '{}';
