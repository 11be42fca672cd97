import { randomBytes } from 'node:crypto'
import { isTransient, type Logger, uuidv7 } from '@ponte/service-kit'
import { advance, type Minted } from './charging'
import type { Store } from './store'
import { isBeaten } from './store/commit'

const BATCH = 64

/** A new order's id and memo; the memo comes from the CSPRNG, so that nobody can guess or pre-empt it. */
export const mint = (): Minted => ({ orderId: uuidv7(), memo: randomBytes(32).toString('hex') })

/**
 * One look at what is due. Each subscription is in one scheduler's hand at a time, and whoever charges it meanwhile wins by version and key.
 * Answers true when there is more. A subscription that cannot be advanced stays claimed for a while, so that it does not stop the others.
 */
export async function runDue({ store, now, logger }: { store: Store; now: () => Date; logger: Logger }): Promise<boolean> {
  const claimed = await store.claimDue(BATCH)
  const moved = await Promise.all(
    claimed.map(async ({ subscription, terms }) => {
      try {
        const change = advance(subscription, now(), mint())
        // Written even when nothing happened, so that the next look and the claim are settled.
        await store.commit({ ...change, subscription: { ...change.subscription } }, {}, terms)
        return true
      } catch (error) {
        if (isBeaten(error)) return true
        if (isTransient(error)) throw error
        logger.error('a subscription could not be advanced', { subscription_id: subscription.id, error })
        return false
      }
    }),
  )
  return moved.some(Boolean) && claimed.length === BATCH
}
