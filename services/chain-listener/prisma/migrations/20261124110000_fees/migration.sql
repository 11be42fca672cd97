-- The fee within a router's payment or sweep, as its log has it; null for logs read before.
ALTER TABLE payments ADD COLUMN fee numeric(78, 0);
