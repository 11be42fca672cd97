-- By how much a new order may be short and still count as paid; null where the merchant chose nothing.
ALTER TABLE merchants ADD COLUMN payment_tolerance_units bigint;
