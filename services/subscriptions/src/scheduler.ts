import { randomBytes } from 'node:crypto'
import { isTransient, type Logger, uuidv7 } from '@ponte/service-kit'
import { isConflict, type Store } from './store'
import { advance, type Minted } from './subscription/charges'

const CLAIM_MAX = 64

/** A new order's id and memo; the memo comes from the CSPRNG, so that no one else can guess or pre-empt it. */
export const mint = (): Minted => ({ orderId: uuidv7(), memo: randomBytes(32).toString('hex') })

/**
 * One look at what is due. Each subscription is claimed by one scheduler at a time; a charge that another request commits meanwhile wins by version and key.
 * Answers true when there may be more. A subscription that cannot be advanced stays claimed for a while, so that it does not stop the others.
 */
export async function runDue({ store, now, logger }: { store: Store; now: () => Date; logger: Logger }): Promise<boolean> {
  const claimed = await store.subscriptions.claimDue(CLAIM_MAX)
  const moved = await Promise.all(
    claimed.map(async ({ subscription, terms }) => {
      try {
        const change = advance(subscription, now(), { ...mint(), hasPayoutAddress: terms.payout_address !== null })
        // Written even when nothing happened, so that the next look and the claim are settled.
        await store.subscriptions.commit({ ...change, subscription: { ...change.subscription } }, {}, terms)
        return true
      } catch (error) {
        if (isConflict(error)) return true
        if (isTransient(error)) throw error
        logger.error('a subscription could not be advanced', { subscription_id: subscription.id, error })
        return false
      }
    }),
  )
  // A merchant is given a few at a time, so that fewer than could be claimed are not all that are due.
  return moved.some(Boolean)
}
