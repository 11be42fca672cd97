-- In a transaction of its own, which holds no lock of the table.
UPDATE orders SET promised_units = promised.units
FROM (SELECT order_id, sum(units) AS units FROM refunds WHERE cancelled_at IS NULL OR ended = 'transferred' GROUP BY order_id) AS promised WHERE orders.id = promised.order_id;
