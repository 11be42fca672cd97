-- Releases of before 23 November named an order in place of an answer, and a trigger made one of it.
DROP TRIGGER idempotency_keys_body ON idempotency_keys;
DROP FUNCTION fill_answer_body;
ALTER TABLE idempotency_keys DROP COLUMN order_id;
