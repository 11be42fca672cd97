import { ApiError, type ChargeRequested, type ErrorCode, parseBrl } from '@ponte/contracts'
import { every, isTransient, type Logger, type Loop } from '@ponte/service-kit'
import type { Intake } from './intake'
import { hasLapsed, type WantedCharge, wantedCharge } from './order/charge'
import type { OrderFactory } from './order/factory'
import type { Change } from './order/order'
import { chargeOwner, isKnownOrder, type NewInvoicing, type Store } from './store'

export interface ChargeDeps {
  store: Store
  now: () => Date
  orderFactory: OrderFactory
  intake: Intake
  logger: Logger
}

export interface Charges {
  requested(request: ChargeRequested, event: { id: string; occurred_at: string }): Promise<void>
  /** Opens what could not be opened when it was requested, and gives orders what was paid for them before they were known. */
  waiting: Loop
}

const SWEEP_MS = 1_000
const CLAIM_MS = 60_000
const PAGE = 100
const AT_ONCE = 4

/** While orders are paused, or without a rate or a verified chain, no order can be opened at all. */
const GLOBAL: readonly ErrorCode[] = ['orders_paused', 'rate_unavailable', 'service_unavailable']
/** Repaired by another payout address. */
const MERCHANTS_OWN: readonly ErrorCode[] = ['payout_address_required', 'payout_address_refused']

type Waiting = Awaited<ReturnType<Store['charges']['waiting']>>[number]

function chargeInvoicing({ request }: WantedCharge): { invoicing?: NewInvoicing } {
  if (!request.customer) return {}
  const { given_at, ...customer } = request.customer
  return { invoicing: { customer, fiscalDocument: null, givenAt: new Date(given_at) } }
}

/** Opens the order of a subscription's charge. One that cannot be opened now waits in the database until its end, and not in the way of others. */
export function createCharges({ store, now, orderFactory, intake, logger }: ChargeDeps): Charges {
  const decide = async ({ request, endsAt }: WantedCharge): Promise<Change> =>
    orderFactory.open({
      id: request.order_id,
      memo: request.memo,
      terms: await store.merchants.newestTerms(request.terms),
      subscriptionId: request.subscription_id,
      externalRef: request.external_ref,
      description: request.description,
      metadata: request.metadata,
      brlCentavos: parseBrl(request.brl_amount),
      expiresAt: endsAt,
    })

  /** Opens the order, or settles that it never will be. Answers why it has to wait; null when it has not. */
  const tryToOpen = async (wanted: WantedCharge, eventId?: string): Promise<ErrorCode | null> => {
    const end = (state: 'lapsed' | 'refused', reason: string) => store.charges.end(chargeOwner(wanted.request), state, reason, eventId)
    try {
      if (hasLapsed(wanted, now())) await end('lapsed', 'lapsed')
      else {
        await store.orders.insert(await decide(wanted), {
          ...(eventId === undefined ? {} : { eventId }),
          ...chargeInvoicing(wanted),
        })
        await intake.claimEarlyPayments(wanted.request.memo)
      }
      return null
    } catch (error) {
      if (isKnownOrder(error)) return null
      if (!(error instanceof ApiError)) throw error
      if (GLOBAL.includes(error.code) || MERCHANTS_OWN.includes(error.code)) return error.code
      await end('refused', error.code)
      return null
    }
  }

  /** Every failed try is put off, whatever the reason, so that none is in the way of those behind it. Answers false when no other can be opened either. */
  const openWaiting = async ({ orderId, wanted }: Waiting): Promise<boolean> => {
    const tried = async () => tryToOpen(wanted())
    const reason = await tried().catch(error => {
      if (isTransient(error)) throw error
      logger.error('a waiting charge could not be opened', { order_id: orderId, error })
      return 'internal_error' as const
    })
    if (reason === null) return true
    const isEverybodys = reason !== 'internal_error' && GLOBAL.includes(reason)
    await store.charges.postpone(orderId, reason, isEverybodys)
    return !isEverybodys
  }

  let claimedAt = 0
  const sweep = async (): Promise<boolean> => {
    const waiting = await store.charges.waiting(now(), PAGE)
    let canOpen = true
    for (let first = 0; first < waiting.length && canOpen; first += AT_ONCE) {
      canOpen = (await Promise.all(waiting.slice(first, first + AT_ONCE).map(openWaiting))).some(Boolean)
    }
    // A replica may have died between writing an order and claiming its payments.
    if (now().getTime() - claimedAt >= CLAIM_MS) {
      claimedAt = now().getTime()
      for (const memo of await store.intake.claimable(PAGE))
        await intake.claimEarlyPayments(memo).catch(error => logger.error('early payments cannot be claimed', { memo, error }))
      await store.charges.prune()
    }
    return canOpen && waiting.length === PAGE
  }
  const loop = every('waiting charges', SWEEP_MS, sweep, logger)

  return {
    waiting: {
      ...loop,
      observe(metrics) {
        metrics.observed('ponte_charges_waiting', 'Charges that wait for a rate or a payout address', store.charges.waitingCount)
        metrics.observed('ponte_charges_waiting_oldest_seconds', 'How long the oldest of them waits already', store.charges.oldestAgeS)
      },
    },
    async requested(request, event) {
      const wanted = wantedCharge(request, event.occurred_at)
      const reason = await tryToOpen(wanted, event.id)
      if (reason !== null) await store.charges.hold(wanted, reason, event.id)
    },
  }
}
