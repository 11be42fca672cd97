-- When the merchant was notified that all of an order's money has reached them. Orders that are paid by now are not notified of again.
ALTER TABLE orders ADD COLUMN settled_at timestamptz(3);
UPDATE orders SET settled_at = paid_at WHERE paid_at IS NOT NULL;
CREATE INDEX orders_unsettled ON orders (paid_at) WHERE paid_at IS NOT NULL AND settled_at IS NULL;
-- Whose a payment is that matches no order.
CREATE INDEX merchants_payout_address_idx ON merchants (payout_address);
