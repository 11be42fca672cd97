-- When the merchant was told that the order had expired: said once, so a late payment on its way cannot bring the order back.
ALTER TABLE orders ADD COLUMN expired_at timestamptz(3);
UPDATE orders SET expired_at = expires_at WHERE status = 'expired' AND paid_at IS NULL;

-- The router's fee at creation: what is still due is worked out with it.
ALTER TABLE orders ADD COLUMN fee_bps integer;
UPDATE orders SET fee_bps = (fee_units * 10000 + usdc_units - 1) / usdc_units;
ALTER TABLE orders ALTER COLUMN fee_bps SET NOT NULL;
ALTER TABLE orders ADD CONSTRAINT orders_fee_bps_check CHECK (fee_bps BETWEEN 0 AND 1000);

-- Whose confirmations are told while they advance.
CREATE INDEX orders_confirming ON orders (chain_id, id) WHERE status = 'confirming';

-- Charges that could not be priced when they came. They wait here and not in the queue, where they would stand in the way of payments.
CREATE TABLE waiting_charges (
  order_id uuid PRIMARY KEY,
  request text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX waiting_charges_created_at_idx ON waiting_charges (created_at);
