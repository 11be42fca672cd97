-- The sum of an order's refunds, done and still possible: a period asks again for what goes back. Those that were cancelled before are left out.
ALTER TABLE orders ADD COLUMN promised_units bigint NOT NULL DEFAULT 0;
UPDATE orders SET promised_units = promised.units
FROM (SELECT order_id, sum(units) AS units FROM refunds WHERE cancelled_at IS NULL OR ended = 'transferred' GROUP BY order_id) AS promised WHERE orders.id = promised.order_id;
