-- The first network of an order is watched, asked for and blocked as each other: one table for all of them.
ALTER TABLE order_networks ADD COLUMN merchant_id uuid;
INSERT INTO order_networks (order_id, chain_id, merchant_id, watched_generation, watched_version, watched_through, asked_generation, asked_at, blocked_reason,
  blocked_generation, blocked_revision)
SELECT orders.id, orders.chain_id, state.merchant_id, watched_generation, coalesce(watched_version, 0), watched_through, asked_generation, asked_at, blocked_reason,
  blocked_generation, coalesce(blocked_revision, 0)
FROM orders LEFT JOIN deposit_states AS state ON state.order_id = orders.id
ON CONFLICT DO NOTHING;
UPDATE order_networks SET merchant_id = orders.merchant_id FROM orders WHERE orders.id = order_id AND blocked_reason IS NOT NULL AND order_networks.merchant_id IS NULL;
DROP TABLE deposit_states;
CREATE INDEX order_networks_blocked ON order_networks (merchant_id, order_id DESC) WHERE blocked_reason IS NOT NULL;
