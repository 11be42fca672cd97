-- The sum of an order's refunds, done and still possible: a period asks again for what goes back.
ALTER TABLE orders ADD COLUMN promised_units bigint NOT NULL DEFAULT 0;
