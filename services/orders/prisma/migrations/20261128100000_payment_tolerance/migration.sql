-- By how much a new order may be short and still count as paid; null where the merchant chose nothing.
ALTER TABLE merchants ADD COLUMN payment_tolerance_units bigint;
-- Up to a tenth of it. No order is read for that: each holds to the narrower bound of before.
ALTER TABLE orders DROP CONSTRAINT orders_tolerance_units_check;
ALTER TABLE orders ADD CONSTRAINT orders_tolerance_units_check CHECK (tolerance_units BETWEEN 0 AND usdc_units / 10) NOT VALID;

-- What is missing of an order that its tolerance took as paid is given away as well, unless that is rounding, a cent at most, or another order of its period counts.
CREATE OR REPLACE VIEW due_entries_of_money_in AS
WITH moved AS NOT MATERIALIZED (
  SELECT orders.merchant_id, 'payment' AS came, paid.kind = 'router' AS settles, orders.fee_bps, orders.rate_micros, orders.id AS order_id, orders.chain_id,
    orders.merchant_address, paid.deposit_address, paid.payer_address, paid.gross_units, paid.tx_hash, paid.log_index, paid.block_number, paid.block_time, NULL AS reason, NULL::bigint AS taken_units
  FROM payments AS paid JOIN orders ON orders.id = paid.order_id WHERE paid.status = 'confirmed'
  UNION ALL
  SELECT orders.merchant_id, 'accepted', false, orders.fee_bps, orders.rate_micros, orders.id, orders.chain_id,
    orders.merchant_address, NULL, NULL, orders.usdc_units - orders.confirmed_units, paid.tx_hash, paid.log_index, paid.block_number, paid.block_time, coalesce(orders.accepted_reason, 'payment_tolerance'), NULL
  FROM payments AS paid JOIN orders ON orders.id = paid.order_id AND orders.last_block = paid.block_number AND orders.last_index = paid.log_index AND orders.last_tx_hash = paid.tx_hash
  WHERE paid.status = 'confirmed' AND orders.status = 'paid'
    AND (orders.accepted_at IS NOT NULL OR (orders.superseded_at IS NULL AND orders.usdc_units - orders.confirmed_units > 10000))
  UNION ALL
  SELECT merchant_id, 'unmatched', kind = 'router', coalesce(fee_bps, 0), NULL, NULL, chain_id,
    merchant_address, deposit_address, payer_address, gross_units, tx_hash, log_index, block_number, block_time, reason, NULL
  FROM unmatched_payments AS unmatched LEFT JOIN routers ON routers.router_address = lower(unmatched.router_address),
    paid_at(merchant_address, block_time) AS merchant_id
  WHERE status = 'confirmed' AND reason NOT IN ('wrong_token', 'amount_out_of_range')
  UNION ALL
  SELECT coalesce(orders.merchant_id, owner.merchant_id), CASE WHEN orders.id IS NULL AND NOT EXISTS (
      SELECT FROM unmatched_payments AS came WHERE lower(came.deposit_address) = lower(swept.deposit_address) AND came.memo = swept.memo AND came.status = 'confirmed')
      THEN 'unmatched' END, true, coalesce(orders.fee_bps, routers.fee_bps, 0), orders.rate_micros, orders.id, swept.chain_id,
    swept.merchant_address, swept.deposit_address, NULL, swept.gross_units, swept.tx_hash, swept.log_index, swept.block_number, swept.block_time,
    CASE WHEN orders.id IS NULL THEN 'unknown_memo' END, swept.fee_units
  FROM sweeps AS swept
    LEFT JOIN orders ON orders.memo = swept.memo AND orders.chain_id = swept.chain_id AND lower(orders.router_address) = lower(swept.router_address)
      AND lower(orders.token_address) = lower(swept.token_address) AND lower(orders.merchant_address) = lower(swept.merchant_address)
    LEFT JOIN routers ON routers.router_address = lower(swept.router_address)
    LEFT JOIN LATERAL paid_at(swept.merchant_address, swept.block_time) AS owner (merchant_id) ON orders.id IS NULL
  WHERE swept.status = 'confirmed' AND coalesce(orders.merchant_id, owner.merchant_id) IS NOT NULL
)
SELECT moved.merchant_id, part.kind, part.units, part.brl_centavos, moved.order_id, moved.chain_id, moved.tx_hash, moved.log_index, moved.block_number,
  moved.block_time, moved.payer_address, part.address, moved.reason
FROM moved
CROSS JOIN LATERAL (SELECT coalesce(taken_units, floor(gross_units::numeric * fee_bps / 10000)::bigint) AS fee_units) AS fee
CROSS JOIN LATERAL (SELECT round(gross_units::numeric * rate_micros / 10000000000)::bigint AS gross, round(fee_units::numeric * rate_micros / 10000000000)::bigint AS fee) AS brl
CROSS JOIN LATERAL (VALUES
  (came, gross_units, brl.gross, deposit_address),
  (CASE WHEN settles THEN 'fee' END, fee_units, brl.fee, NULL),
  (CASE WHEN settles THEN 'settled' END, gross_units - fee_units, brl.gross - brl.fee, merchant_address)) AS part (kind, units, brl_centavos, address)
WHERE part.kind IS NOT NULL AND part.units > 0;

-- By row, so that an order that nothing can be given away of costs a comparison and no more.
CREATE OR REPLACE TRIGGER book_accepted AFTER UPDATE ON orders FOR EACH ROW
  WHEN ((NEW.accepted_at IS NOT NULL OR NEW.tolerance_units > 10000)
    AND (NEW.accepted_at, NEW.status, NEW.superseded_at, NEW.confirmed_units, NEW.last_tx_hash, NEW.last_block, NEW.last_index)
      IS DISTINCT FROM (OLD.accepted_at, OLD.status, OLD.superseded_at, OLD.confirmed_units, OLD.last_tx_hash, OLD.last_block, OLD.last_index))
  EXECUTE FUNCTION book_accepted();

-- Too much is what is beyond rounding, whatever an order's tolerance was.
UPDATE orders SET exception = NULL
WHERE exception = 'overpaid' AND status = 'paid' AND confirmed_units <= usdc_units + least(10000, usdc_units / 100);
