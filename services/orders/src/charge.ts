import { ApiError, type ChargeRequested, parseBrl } from '@ponte/contracts'
import { every, type Logger, type Loop } from '@ponte/service-kit'
import type { Arrivals } from './arrival'
import type { Opening } from './opening'
import type { Change } from './order'
import type { Store } from './store'
import { isKnownOrder } from './store/orders'

export interface ChargeDeps {
  store: Store
  now: () => Date
  opening: Opening
  arrivals: Arrivals
  logger: Logger
}

export interface Charges {
  requested(request: ChargeRequested, eventId: string): Promise<void>
  /** Opens what waited for a rate, and gives orders what was paid for them before they were known. */
  waiting: Loop
}

const SWEEP_MS = 1_000
const ADOPT_MS = 60_000
const PAGE = 100

/** Opens the order of a subscription's charge. One that cannot be priced now waits in the database, and not in the way of payments. */
export function createCharges({ store, now, opening, arrivals, logger }: ChargeDeps): Charges {
  const decide = async (request: ChargeRequested): Promise<Change> => {
    const newest = await store.newestTerms(request.terms)
    return opening.open({
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

  let adoptedAt = 0
  const sweep = async (): Promise<void> => {
    for (const orderId of await store.waitingCharges(PAGE)) {
      try {
        const change = await store.openWaiting(orderId, decide)
        if (change) await arrivals.adopt(change.order.memo)
      } catch (error) {
        if (isUnpriced(error)) break
        logger.error('a waiting charge could not be opened', { order_id: orderId, error })
      }
    }
    // Whoever died between writing an order and looking for its payments is made up for here.
    if (now().getTime() - adoptedAt < ADOPT_MS) return
    for (const memo of await store.adoptable(PAGE)) await arrivals.adopt(memo)
    adoptedAt = now().getTime()
  }
  const waiting = every('waiting charges', SWEEP_MS, sweep, logger)

  return {
    waiting,
    async requested(request, eventId) {
      try {
        const change = await decide(request)
        await store.insert(change, { eventId })
        await arrivals.adopt(request.memo)
      } catch (error) {
        if (isUnpriced(error)) return store.holdCharge(request, eventId)
        if (!isKnownOrder(error)) throw error
      }
    },
  }
}

const isUnpriced = (error: unknown) => error instanceof ApiError && error.code === 'rate_unavailable'
