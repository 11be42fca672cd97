import { ApiError, type ChargeRequested, type ErrorCode, parseBrl } from '@ponte/contracts'
import { every, type Logger, type Loop } from '@ponte/service-kit'
import type { Ingestion } from './ingestion'
import { type Change, hasLapsed, type OrderFactory, type WantedCharge, wantedCharge } from './order'
import { chargeOwner, isKnownOrder, type Store } from './store'

export interface ChargeDeps {
  store: Store
  now: () => Date
  orderFactory: OrderFactory
  ingestion: Ingestion
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

/** Without a rate or a verified chain no order can be opened at all. */
const GLOBAL: readonly ErrorCode[] = ['rate_unavailable', 'service_unavailable']
/** What another payout address fixes. */
const MERCHANTS_OWN: readonly ErrorCode[] = ['payout_address_required', 'payout_address_refused']

/** Opens the order of a subscription's charge. One that cannot be opened now waits in the database until its end, and not in the way of others. */
export function createCharges({ store, now, orderFactory, ingestion, logger }: ChargeDeps): Charges {
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

  /** Opens one that waits. Answers false when no other can be opened either. */
  const openWaiting = async (wanted: WantedCharge): Promise<boolean> => {
    const { request } = wanted
    try {
      if (hasLapsed(wanted, now())) {
        await store.charges.end(chargeOwner(request), 'lapsed', 'lapsed')
        return true
      }
      const change = await decide(wanted)
      if (await store.charges.open(change)) await ingestion.claimEarlyPayments(request.memo)
      return true
    } catch (error) {
      const code = error instanceof ApiError ? error.code : null
      if (code !== null && GLOBAL.includes(code)) return false
      if (code !== null && !MERCHANTS_OWN.includes(code)) await store.charges.end(chargeOwner(request), 'refused', code)
      else await store.charges.postpone(request.order_id, code ?? 'internal_error', now())
      if (code === null) logger.error('a waiting charge could not be opened', { order_id: request.order_id, error })
      return true
    }
  }

  let claimedAt = 0
  const sweep = async (): Promise<boolean> => {
    const wanted = await store.charges.waiting(now(), PAGE)
    let canOpen = true
    for (let first = 0; first < wanted.length && canOpen; first += AT_ONCE) {
      canOpen = (await Promise.all(wanted.slice(first, first + AT_ONCE).map(openWaiting))).some(Boolean)
    }
    // A replica may have died between writing an order and claiming its payments.
    if (now().getTime() - claimedAt >= CLAIM_MS) {
      for (const memo of await store.unmatched.claimable(PAGE)) await ingestion.claimEarlyPayments(memo)
      await store.charges.prune()
      claimedAt = now().getTime()
    }
    return canOpen && wanted.length === PAGE
  }
  const waiting = every('waiting charges', SWEEP_MS, sweep, logger)

  return {
    waiting: {
      ...waiting,
      observe(metrics) {
        metrics.observed('ponte_charges_waiting', 'Charges that wait for a rate or a payout address', store.charges.waitingCount)
        metrics.observed('ponte_charges_waiting_oldest_seconds', 'How long the oldest of them waits already', store.charges.oldestAgeS)
      },
    },
    async requested(request, event) {
      const wanted = wantedCharge(request, event.occurred_at)
      try {
        if (hasLapsed(wanted, now())) return void (await store.charges.end(chargeOwner(request), 'lapsed', 'lapsed', event.id))
        await store.orders.insert(await decide(wanted), { eventId: event.id })
        await ingestion.claimEarlyPayments(request.memo)
      } catch (error) {
        if (isKnownOrder(error)) return
        if (!(error instanceof ApiError)) throw error
        if (GLOBAL.includes(error.code) || MERCHANTS_OWN.includes(error.code)) return store.charges.hold(wanted, error.code, event.id)
        await store.charges.end(chargeOwner(request), 'refused', error.code, event.id)
      }
    },
  }
}
