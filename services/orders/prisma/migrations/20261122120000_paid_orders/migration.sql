-- Sums of what a merchant's orders were paid, by time of payment, are read from this index alone.
CREATE INDEX orders_merchant_paid ON orders (merchant_id, paid_at) INCLUDE (brl_centavos, usdc_units, fee_units) WHERE status = 'paid';
