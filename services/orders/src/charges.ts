import { ApiError, type ChargeRequested, type ErrorCode, parseBrl } from '@ponte/contracts'
import { every, type Logger, type Loop } from '@ponte/service-kit'
import type { Ingestion } from './ingestion'
import type { Change, OrderFactory } from './order'
import { isKnownOrder, type Store } from './store'

export interface ChargeDeps {
  store: Store
  now: () => Date
  orderFactory: OrderFactory
  ingestion: Ingestion
  logger: Logger
}

export interface Charges {
  requested(request: ChargeRequested, eventId: string): Promise<void>
  /** Opens what could not be opened when it was requested, and gives orders what was paid for them before they were known. */
  waiting: Loop
}

const SWEEP_MS = 1_000
const CLAIM_MS = 60_000
const PAGE = 100
const AT_ONCE = 4

/** Opens the order of a subscription's charge. One that cannot be opened now waits in the database, and not in the way of payments. */
export function createCharges({ store, now, orderFactory, ingestion, logger }: ChargeDeps): Charges {
  const decide = async (request: ChargeRequested): Promise<Change> => {
    const newest = await store.merchants.newestTerms(request.terms)
    return orderFactory.open({
      id: request.order_id,
      memo: request.memo,
      // A merchant who took the address away meanwhile was charging with one: the charge stands on those terms.
      terms: newest.payout_address === null ? request.terms : newest,
      subscriptionId: request.subscription_id,
      externalRef: request.external_ref,
      description: request.description,
      metadata: request.metadata,
      brlCentavos: parseBrl(request.brl_amount),
      expiresAt: new Date(now().getTime() + request.expires_in * 1000),
    })
  }

  const openWaiting = async (request: ChargeRequested): Promise<void> => {
    try {
      const change = await decide(request)
      if (await store.charges.open(change)) await ingestion.claimEarlyPayments(request.memo)
    } catch (error) {
      // Without a rate or a chain none can be opened. A payout address is refused for one merchant; the others need not wait for it.
      if (isPostponed(error)) return error.code === 'payout_address_refused' ? store.charges.postpone(request.order_id, now()) : undefined
      logger.error('a waiting charge could not be opened', { order_id: request.order_id, error })
    }
  }

  let claimedAt = 0
  const sweep = async (): Promise<void> => {
    const requests = await store.charges.waiting(PAGE)
    for (let first = 0; first < requests.length; first += AT_ONCE) {
      await Promise.all(requests.slice(first, first + AT_ONCE).map(openWaiting))
    }
    // A replica may have died between writing an order and claiming its payments.
    if (now().getTime() - claimedAt < CLAIM_MS) return
    for (const memo of await store.unmatched.claimable(PAGE)) await ingestion.claimEarlyPayments(memo)
    claimedAt = now().getTime()
  }
  const waiting = every('waiting charges', SWEEP_MS, sweep, logger)

  return {
    waiting,
    async requested(request, eventId) {
      try {
        const change = await decide(request)
        await store.orders.insert(change, { eventId })
        await ingestion.claimEarlyPayments(request.memo)
      } catch (error) {
        if (isPostponed(error)) return store.charges.hold(request, eventId)
        if (!isKnownOrder(error)) throw error
      }
    },
  }
}

const POSTPONING: readonly ErrorCode[] = ['rate_unavailable', 'service_unavailable', 'payout_address_refused']

/** What may be opened later: with a fresh rate, with a chain that can be read, with another payout address. */
const isPostponed = (error: unknown): error is ApiError => error instanceof ApiError && POSTPONING.includes(error.code)
