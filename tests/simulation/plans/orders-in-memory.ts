import { type Event, type EventData, formatUsdc, type MerchantTerms, type NewEvent, type SubscriptionClosed } from '@ponte/contracts'
import type { orderRules } from '@ponte/orders'

type Rules = typeof orderRules
type Ledger = Parameters<Rules['receivePayments']>[0]
type Payment = Ledger['payments'][number]
type Wanted = ReturnType<Rules['wantedCharge']>
type Requested = Extract<Event, { type: 'subscription.charge_requested' }>

export interface OpenedOrder {
  ledger: Ledger
  openedAt: number
  /** The newest payout address that orders knew of when it opened it. */
  knownAddress: string | null
}

const QUOTE = { rateMicros: 5_000_000n, source: 'static', spreadBps: 0 }
const DEPLOYMENT = {
  chainId: 1,
  tokenAddress: '0x02',
  routerAddress: '0x03',
  feeBps: 100n,
  tolerance: { defaultUnits: 10_000n, maxUnits: 5_000_000n },
}

const isOpen = ({ ledger }: OpenedOrder) => ['pending', 'underpaid', 'confirming'].includes(ledger.order.status)

/** The orders service without database and bus: rows are maps, and its transitions are those of the service. */
export function ordersInMemory(rules: Rules) {
  const orders = new Map<string, OpenedOrder>()
  /** May still expire. */
  const unsettled = new Set<string>()
  const outcomes = new Map<string, 'opened' | 'withdrawn' | 'lapsed'>()
  const waiting = new Map<string, Wanted>()
  let known: MerchantTerms | null = null
  /** The newest terms that any message brought. */
  let received: MerchantTerms | null = null
  const receive = (terms: MerchantTerms) => {
    if (received === null || received.version < terms.version) received = terms
  }
  const canPrice = { now: true }

  const answer = (type: 'order.refused' | 'order.waiting', { request }: Wanted, reason: string): NewEvent => ({
    type,
    data: {
      merchant_id: request.terms.merchant_id,
      merchant_version: request.terms.version,
      subscription_id: request.subscription_id,
      order_id: request.order_id,
      reason,
    },
  })
  const view = (time: number) => ({ time: new Date(time) })
  const apply = (id: string, change: ReturnType<Rules['review']> | null): NewEvent[] => {
    const found = orders.get(id)
    if (!change || !found) return []
    found.ledger = { ...found.ledger, order: { ...change.order, version: found.ledger.order.version + 1 } }
    if (isOpen(found)) unsettled.add(id)
    else unsettled.delete(id)
    return change.events
  }
  const tryOpen = (wanted: Wanted, at: Date): NewEvent[] => {
    const { request, endsAt } = wanted
    const id = request.order_id
    if (outcomes.has(id)) return []
    if (rules.hasLapsed(wanted, at)) {
      waiting.delete(id)
      outcomes.set(id, 'lapsed')
      return [answer('order.refused', wanted, 'lapsed')]
    }
    const terms = rules.newestTerms(request.terms, known)
    if (terms.payout_address === null || !canPrice.now) {
      const isNew = !waiting.has(id)
      waiting.set(id, wanted)
      return isNew ? [answer('order.waiting', wanted, terms.payout_address === null ? 'payout_address_required' : 'rate_unavailable')] : []
    }
    const order = rules.open(
      {
        id,
        memo: request.memo,
        terms,
        subscriptionId: request.subscription_id,
        externalRef: null,
        description: null,
        metadata: {},
        brlCentavos: BigInt(request.brl_amount.replace('.', '')),
        expiresAt: endsAt,
      },
      { ...QUOTE, asOf: at },
      DEPLOYMENT,
      at,
    )
    waiting.delete(id)
    outcomes.set(id, 'opened')
    unsettled.add(id)
    orders.set(id, {
      ledger: { order, payments: [], isAll: true, isWatched: true },
      openedAt: at.getTime(),
      knownAddress: received?.payout_address ?? null,
    })
    return []
  }
  const close = (
    id: string,
    owner: { merchant_id: string; subscription_id: string },
    decide: (ledger: Ledger) => ReturnType<Rules['release']>,
  ): NewEvent[] => {
    const found = orders.get(id)
    if (found) return apply(id, decide(found.ledger))
    if (outcomes.has(id)) return []
    outcomes.set(id, 'withdrawn')
    waiting.delete(id)
    return [{ type: 'order.refused', data: { ...owner, merchant_version: 1, order_id: id, reason: 'withdrawn' } }]
  }
  return {
    orders,
    outcomes,
    waiting,
    canPrice,
    requested(event: Requested, at: Date) {
      receive(event.data.terms)
      return tryOpen(rules.wantedCharge(event.data, event.occurred_at), at)
    },
    sweep: (at: Date) => [...waiting.values()].flatMap(wanted => tryOpen(wanted, at)),
    merchantUpdated(terms: MerchantTerms) {
      receive(terms)
      if (known === null || known.version < terms.version) known = terms
    },
    ended({ merchant_id, subscription, open_order_ids = [] }: SubscriptionClosed, at: Date, chainTime: number) {
      const owner = { merchant_id, subscription_id: subscription.id }
      return open_order_ids.flatMap(id => close(id, owner, ledger => rules.release(ledger, view(chainTime), at)))
    },
    superseded({ order_id, is_replaced, ...data }: EventData<'subscription.order_superseded'>, at: Date, chainTime: number) {
      const owner = { merchant_id: data.merchant_id, subscription_id: data.subscription_id }
      return close(order_id, owner, ledger => (is_replaced ? rules.release : rules.supersede)(ledger, view(chainTime), at))
    },
    counted({ accepted, order }: EventData<'subscription.charged'>, at: Date, chainTime: number): NewEvent[] {
      const found = orders.get(order.id)
      return accepted && found ? apply(order.id, rules.acceptWithPeriod(found.ledger, accepted.by, view(chainTime), at)) : []
    },
    /** A payment as the listener reports it now. */
    reported(id: string, payment: Payment, at: Date, chainTime: number): NewEvent[] {
      const found = orders.get(id)
      if (!found) return []
      const before = found.ledger.payments.find(other => other.id === payment.id)
      if (before && before.version >= payment.version) return []
      const change = rules.receivePayments(found.ledger, [payment], view(chainTime), at)
      found.ledger = { ...found.ledger, payments: [...found.ledger.payments.filter(other => other.id !== payment.id), payment] }
      return apply(id, change)
    },
    /** Expires every order that the confirmed chain has passed. */
    expire: (at: Date, chainTime: number) =>
      [...unsettled].flatMap(id => {
        const found = orders.get(id)
        if (!found || chainTime <= found.ledger.order.expiresAt.getTime()) return []
        return apply(id, rules.review(found.ledger, view(chainTime), at))
      }),
    /** May still be paid. */
    open: () => [...unsettled],
    amountOf: (id: string) => orders.get(id)?.ledger.order.usdcUnits ?? 0n,
    describe: (id: string) => {
      const order = orders.get(id)?.ledger.order
      return order ? `${order.status} of ${formatUsdc(order.usdcUnits)}` : String(outcomes.get(id) ?? 'unknown')
    },
  }
}
