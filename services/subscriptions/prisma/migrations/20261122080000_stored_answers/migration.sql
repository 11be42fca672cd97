-- An answer is opaque text: what stands for an order that is not created yet is written in it.
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_check;
UPDATE idempotency_keys SET body = 'order ' || order_id WHERE order_id IS NOT NULL;
ALTER TABLE idempotency_keys ALTER COLUMN body SET NOT NULL, DROP COLUMN order_id;
