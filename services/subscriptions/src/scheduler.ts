import { randomBytes } from 'node:crypto'
import { every, isTransient, type Logger, type Part, uuidv7At } from '@ponte/service-kit'
import { isConflict, type Store } from './store'
import { advance, type Minted } from './subscription/charges'

const CLAIM_MAX = 64
/** Once a charge is answered its merchant rests for so many times as long as that took: the rest of the time is others'. */
const REST = 2
/** An answer that came late was not slow work. */
const REST_MAX_MS = 1_000

type Due = Awaited<ReturnType<Store['subscriptions']['claimDue']>>[number]

/** A new order's id, which is when it was created, and memo; the memo comes from the CSPRNG, so that no one else can guess or pre-empt it. */
export const mint = (at: Date): Minted => ({ orderId: uuidv7At(at), memo: randomBytes(32).toString('hex') })

export interface Scheduler extends Part {
  /** Looks at once whether plans of this merchant are due; of all merchants without one. */
  wake(merchantId?: string): void
  /** Orders answered a charge of this merchant, and `record` writes it down: the next one of many is asked for after a rest. */
  answered(merchantId: string, record: () => Promise<void>): Promise<void>
}

/**
 * Advances what is due. Which merchants have plans that are due is read once a turn; what moves one of them, such as an answer of orders, has only that one
 * looked at again, so that no look costs what one merchant's thousands do. Each plan is claimed by one scheduler at a time; a charge that another request
 * commits meanwhile wins by version and key. One that cannot be advanced stays claimed for a while, so that it does not stop the others.
 */
export function createScheduler({
  store,
  now,
  logger,
  everyMs,
}: {
  store: Store
  now: () => Date
  logger: Logger
  everyMs: number
}): Scheduler {
  const merchants = new Set<string>()
  /** Since when a charge of theirs is on its way. */
  const asked = new Map<string, number>()
  const resting = new Set<string>()
  const add = (ids: readonly string[]) => {
    for (const id of ids) merchants.add(id)
  }
  const advanceOne = async ({ subscription, terms }: Due): Promise<boolean> => {
    try {
      const at = now()
      const change = advance(subscription, at, { ...mint(at), hasPayoutAddress: terms.payout_address !== null })
      // Written even when nothing happened, so that the next look and the claim are settled.
      await store.subscriptions.commit({ ...change, subscription: { ...change.subscription } }, {}, terms)
      return true
    } catch (error) {
      if (isConflict(error)) return true
      if (isTransient(error)) throw error
      logger.error('a subscription could not be advanced', { subscription_id: subscription.id, error })
      return false
    }
  }
  const claiming = every(
    'scheduler',
    everyMs,
    async () => {
      // In the order in which they were added, so that those who had their turn stand behind the others.
      const looked = [...merchants].slice(0, CLAIM_MAX)
      for (const id of looked) merchants.delete(id)
      if (looked.length === 0) return false
      const claimed = await store.subscriptions.claimDue(looked, CLAIM_MAX)
      for (const { subscription } of claimed) asked.set(subscription.merchantId, performance.now())
      const moved = await Promise.all(claimed.map(advanceOne))
      // A merchant is given a few at a time, so that fewer than could be claimed are not all that are due.
      add(claimed.length === CLAIM_MAX ? looked : claimed.flatMap(({ subscription }, at) => (moved[at] ? [subscription.merchantId] : [])))
      return merchants.size > 0
    },
    logger,
  )
  const looking = every(
    'due merchants',
    everyMs,
    async () => {
      add((await store.subscriptions.merchantsDue()).filter(id => !resting.has(id)))
      if (merchants.size > 0) claiming.wake()
    },
    logger,
  )
  const wake = (merchantId?: string) => {
    if (merchantId !== undefined) merchants.add(merchantId)
    const loop = merchantId === undefined ? looking : claiming
    loop.wake()
  }
  return {
    name: 'scheduler',
    wake,
    async answered(merchantId, record) {
      const since = asked.get(merchantId)
      asked.delete(merchantId)
      // The rest begins before the next one can be claimed, which is as soon as the answer is committed.
      if (since !== undefined) {
        resting.add(merchantId)
        merchants.delete(merchantId)
      }
      const restUntil = since === undefined ? 0 : performance.now() + Math.min(REST * (performance.now() - since), REST_MAX_MS)
      try {
        await record()
      } finally {
        const rest = () => {
          resting.delete(merchantId)
          wake(merchantId)
        }
        if (since === undefined) wake(merchantId)
        else setTimeout(rest, Math.max(0, restUntil - performance.now())).unref()
      }
    },
    async start() {
      await claiming.start?.()
      await looking.start?.()
    },
    async stop() {
      await looking.stop?.()
      await claiming.stop?.()
    },
    busy: async () => (await store.subscriptions.overdueS()) > 0 || (await looking.busy?.()) === true || (await claiming.busy?.()) === true,
  }
}
