import type { AttentionItemBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'

export type Act = 'accept' | 'attach' | 'recover' | 'return' | 'handle'

/** The one thing to do next, of what the user may do; null where there is only something to look at. */
export function nextActOf(
  { order, reasons, actions = [], left_over, handled_at }: AttentionItemBody,
  may: Record<Act, boolean>,
): Act | null {
  if (handled_at) return null
  // A payer who pays after the cancellation wants the money back, as a rule.
  if (actions.includes('accept') && order?.status !== 'cancelled' && may.accept) return 'accept'
  if (actions.includes('attach') && may.attach) return 'attach'
  if (actions.includes('recover') && may.recover) return 'recover'
  // It comes right by itself, or by others.
  if (reasons.includes('reorged') || reasons.includes('settlement_blocked')) return null
  if (order && parseUsdc(left_over) > 0n && may.return) return 'return'
  return may.handle ? 'handle' : null
}

/** The amount that a decision is about. */
export function amountOf({ order, reasons, gross, left_over }: AttentionItemBody): { is: 'short' | 'over' | 'came'; amount: string } {
  const missing = order ? parseUsdc(order.usdc_amount) - parseUsdc(gross) : 0n
  if (reasons.includes('underpaid') && missing > 0n) return { is: 'short', amount: formatUsdc(missing) }
  const isMore = reasons.includes('overpaid') || reasons.includes('duplicate')
  return isMore && parseUsdc(left_over) > 0n ? { is: 'over', amount: left_over } : { is: 'came', amount: gross }
}

const confirmed = ({ order, foreign_token: foreign }: AttentionItemBody) =>
  (foreign ? [] : (order?.payments ?? [])).filter(({ status }) => status === 'confirmed')

/** When the last of the money came; an order that was paid late may be old. */
export const sinceOf = (item: AttentionItemBody): string =>
  confirmed(item)
    .map(({ block_time }) => block_time)
    .sort()
    .at(-1) ?? item.at

export interface Sent {
  payer: string | null
  amount: string
  hash: string
  chainId: number
}

/** Payments that the network took, each with its sender. */
export function sentOf(item: AttentionItemBody): Sent[] {
  const { order, payment, foreign_token: foreign } = item
  if (foreign) return []
  if (payment) return [{ payer: payment.payer_address, amount: payment.amount, hash: payment.tx_hash, chainId: payment.chain_id }]
  const chainId = order?.payment.chain_id ?? 0
  return confirmed(item).map(({ payer_address: payer, amount, tx_hash: hash, chain_id }) => ({
    ...{ payer, amount, hash, chainId: chain_id ?? chainId },
  }))
}

/** Whether a text is in its number, description, addresses, hashes or amounts; those with a comma or a point. */
export function isFoundBy(item: AttentionItemBody, text: string): boolean {
  const wanted = text.trim().toLowerCase()
  const { order, payment, payers, gross, left_over, foreign_token: foreign } = item
  const amounts = [gross, left_over, amountOf(item).amount, order?.usdc_amount, order?.brl_amount]
  const names = [
    order?.id,
    order?.external_ref,
    order?.description,
    order?.memo ?? payment?.memo,
    ...payers,
    foreign?.token_address,
    foreign?.tx_hash,
    ...sentOf(item).map(({ hash }) => hash),
  ]
  return names.some(name => name?.toLowerCase().includes(wanted)) || amounts.some(amount => amount?.includes(wanted.replace(',', '.')))
}
