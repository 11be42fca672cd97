import { createHash } from 'node:crypto'
import {
  type AttentionAction,
  type AttentionItemBody,
  type AttentionReason,
  formatUsdc,
  merchantShare,
  type UnmatchedData,
} from '@ponte/contracts'
import { type Moved, platformFeeUnits } from '../ledger/platform-fee'
import { refusalOf } from '../order/acceptance'
import { isAttachable } from '../order/attachment'
import { historyBody, type OrderHistory, type Place } from '../order/body'
import type { Mark, Seen, UnmatchedMoney } from '../payment/mismatch'
import { confirmedPayments } from '../payment/payment'
import { foreignTokenBody, statusOf } from '../recovery/recovery'
import type { MarkedToken } from '../store/foreign-tokens'

const MINTED = `0x${'0'.repeat(40)}`
/** Where another contract or token took the money, its fee is not ours to know. */
const FEE_UNKNOWN = new Set(['wrong_chain', 'wrong_router', 'wrong_token'])

export function reasonsOf({ order, blockedReason }: Pick<OrderHistory, 'order' | 'blockedReason'>): AttentionReason[] {
  const reasons: AttentionReason[] = order.exception === null ? [] : [order.exception]
  const isShort = order.exception === null && (order.status === 'underpaid' || order.status === 'expired')
  if (isShort && order.confirmedUnits > 0n) reasons.push('underpaid')
  if (blockedReason !== null) reasons.push('settlement_blocked')
  return reasons
}

/** An order that was handled comes back once this is another: the same text as its index has. */
export const seenOf = ({ order, blockedReason }: Pick<OrderHistory, 'order' | 'blockedReason'>): Seen => ({
  facts: `${order.status}/${order.exception ?? ''}/${order.confirmedUnits}`,
  blocked: blockedReason,
})

/** Names what was seen, for who marks it as handled. */
export const factsOf = ({ facts, blocked }: Seen): string =>
  createHash('md5')
    .update(`${facts}|${blocked ?? ''}`)
    .digest('hex')
    .slice(0, 16)

/** Facts about an order beside its own history. */
export interface Beside {
  moved: Moved | undefined
  /** Another order of its invoice is paid, or money of it goes back. */
  isElsewhere: boolean
}

export function orderItem(
  history: OrderHistory,
  { moved, isElsewhere }: Beside,
  place: Place,
  mark: Mark | null = null,
): AttentionItemBody {
  const { order, payments } = history
  const gross = order.confirmedUnits
  const payers = confirmedPayments(payments).map(({ payerAddress }) => payerAddress)
  return {
    ...item(order.id, order.createdAt.toISOString(), reasonsOf(history), payers),
    ...sums(gross, gross - platformFeeUnits(order, moved), history),
    order: historyBody(history, place),
    payment: null,
    actions: refusalOf(order) === null && !isElsewhere ? (['accept'] satisfies AttentionAction[]) : [],
    ...marked(factsOf(seenOf(history)), mark),
  }
}

export function unmatchedItem({ payment, grossUnits, settledUnits, facts, mark }: UnmatchedMoney, feeBps: bigint): AttentionItemBody {
  const share = settledUnits ?? (FEE_UNKNOWN.has(payment.reason) ? null : merchantShare(grossUnits, feeBps))
  return {
    ...item(unmatchedId(payment), payment.block_time, ['unmatched'], [payment.payer_address]),
    ...sums(grossUnits, share, { leftOverUnits: grossUnits, toReturnUnits: grossUnits }),
    order: null,
    payment: { ...payment, amount: formatUsdc(grossUnits) },
    actions: isAttachable({ ...payment, status: 'confirmed' }) ? (['attach'] satisfies AttentionAction[]) : [],
    ...marked(factsOf({ facts, blocked: null }), mark),
  }
}

/** No sum has it: what a token states of itself is worth nothing. */
export function foreignItem({ token, seen, mark }: MarkedToken, history: OrderHistory, place: Place): AttentionItemBody {
  const status = statusOf(token)
  return {
    ...item(token.id, token.foundAt.toISOString(), ['foreign_token'], []),
    ...sums(0n, 0n, { leftOverUnits: 0n, toReturnUnits: 0n }),
    order: historyBody(history, place),
    payment: null,
    foreign_token: foreignTokenBody(token, history.order),
    actions: status === null || status === 'failed' ? (['recover'] satisfies AttentionAction[]) : [],
    ...marked(factsOf(seen), mark),
  }
}

const item = (id: string, at: string, reasons: AttentionReason[], payers: string[]) => ({
  object: 'attention_item' as const,
  id,
  at,
  reasons,
  payers: [...new Set(payers)].filter(payer => payer !== MINTED),
})

const marked = (facts: string, mark: Mark | null) => ({
  facts,
  handled_at: mark?.at.toISOString() ?? null,
  handled_by: mark?.by ?? null,
  handled_note: mark?.note ?? null,
})

type LeftOver = Pick<OrderHistory, 'leftOverUnits' | 'toReturnUnits'>
const sums = (gross: bigint, share: bigint | null, { leftOverUnits, toReturnUnits }: LeftOver) => ({
  gross: formatUsdc(gross),
  platform_fee: share === null ? null : formatUsdc(gross - share),
  taken: formatUsdc(gross - leftOverUnits),
  left_over: formatUsdc(toReturnUnits),
})

/** A UUIDv7 of the payment's time that is the same whenever it is made, so that payments stand among orders by time. */
export function unmatchedId({ id, block_time }: Pick<UnmatchedData, 'id' | 'block_time'>): string {
  const time = Date.parse(block_time).toString(16).padStart(12, '0')
  const hash = createHash('md5').update(id).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}
