-- Networks of which the listener was not asked yet to watch an order: new orders are asked for together, on each network beside the first.
UPDATE order_networks SET asked_at = orders.created_at FROM orders WHERE orders.id = order_id AND asked_at IS NULL;
CREATE INDEX order_networks_unasked ON order_networks (chain_id) WHERE asked_at IS NULL;
