// Received money is reported in whole centavos, rounded down: less than one more than was deducted is not left over.
const DEDUCTED = `CASE WHEN orders.deducted_centavos = 0 THEN 0
  ELSE least(orders.usdc_units, ceil(orders.usdc_units::numeric * (orders.deducted_centavos + 1) / orders.brl_centavos)::bigint) END`

/**
 * What of an order's confirmed money it does not take, in SQL: answers and sums read this one expression. An order takes up to what it asked for, and nothing
 * once it is closed without being paid. A plan asks for no money of a period again that has come: once another order was paid, the rest of it is left over.
 * Where how much that was is not known, all is, or nothing.
 */
export const LEFT_OVER = `CASE
  WHEN orders.status IN ('expired', 'cancelled') AND orders.superseded_at IS NOT NULL AND orders.deducted_centavos IS NOT NULL
  THEN greatest(orders.confirmed_units - ${DEDUCTED}, 0)
  WHEN orders.status = 'cancelled' OR (orders.status = 'expired' AND (orders.subscription_id IS NULL
    OR (orders.exception IS NOT NULL AND orders.superseded_at IS NOT NULL))) OR (orders.status = 'paid' AND orders.superseded_at IS NOT NULL)
  THEN orders.confirmed_units ELSE greatest(orders.confirmed_units - orders.usdc_units, 0) END`

/** The same without what has gone back already. */
export const TO_RETURN = `greatest(${LEFT_OVER} - (SELECT coalesce(sum(units), 0) FROM refunds WHERE refunds.order_id = orders.id AND ended = 'transferred'), 0)`
