import type { Statement } from '@ponte/service-kit'

/** A payable is cancelled also by what came before it, or at the same moment. */
export const IS_CANCELLED = `(payables.cancelled_at IS NOT NULL OR EXISTS (SELECT 1 FROM early_cancellations AS early
    WHERE early.chain_id = payables.chain_id AND early.order_id = payables.order_id))`

// Raw, because the first time stays, in one commit with the inbox. An order that is not known yet leaves a row that it will find; one of another chain
// leaves it for as long as an event may be late.
export const CANCEL: Statement = {
  name: 'payables-cancel',
  text: `
  WITH early AS (
    INSERT INTO early_cancellations (chain_id, order_id, cancelled_at)
    SELECT $chain_id::bigint, $order_id::uuid, $at::timestamptz
    WHERE NOT EXISTS (SELECT 1 FROM payables WHERE chain_id = $chain_id AND order_id = $order_id) ON CONFLICT DO NOTHING
  ), pruned AS (
    DELETE FROM early_cancellations WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM early_cancellations WHERE cancelled_at < $at::timestamptz - interval '60 days' ORDER BY cancelled_at LIMIT 100))
  )
  UPDATE payables SET cancelled_at = coalesce(cancelled_at, $at) WHERE chain_id = $chain_id AND order_id = $order_id`,
}
