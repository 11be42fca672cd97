import { formatUsdc, type NewEvent } from '@ponte/contracts'
import type { AuthorizationChange } from './store/authorization'
import type { AuthorizationStore } from './store/authorizations'
import type { BlockedDeposit, BlockedStore } from './store/blocked'

/** Publishes what became of payers' signatures, and which deposits cannot be swept, since the last time: the newest state of each, with its revision. */
export function createPublisher(
  store: AuthorizationStore,
  deposits: BlockedStore,
  chainId: number,
  checksum: (address: string) => string,
  now: () => Date,
): () => Promise<void> {
  const eventOf = (one: AuthorizationChange): NewEvent => ({
    type: 'authorization.changed',
    data: {
      ...{ chain_id: chainId, generation: one.generation ?? undefined },
      order_id: one.orderId,
      attempt: one.attempt,
      revision: one.revision,
      status: one.state,
      payer_address: checksum(one.payer),
      amount: formatUsdc(one.amountUnits),
      valid_before: one.validBefore,
      tx_hash: one.txHash,
      reason: one.reason,
    },
  })
  const blockedEventOf = ({ orderId, memo, merchant, address, reason, revision, generation }: BlockedDeposit): NewEvent => ({
    type: 'deposit.blocked',
    data: {
      ...{ chain_id: chainId, generation: generation ?? undefined, order_id: orderId, memo, reason, revision },
      merchant_address: checksum(merchant),
      deposit_address: checksum(address),
    },
  })
  const publish = async () => {
    const blocked = await deposits.unpublished()
    if (blocked.length > 0) await deposits.publish(blocked, blocked.map(blockedEventOf), now())
    const changes = await store.changed()
    if (changes.length > 0) await store.publish(changes, changes.map(eventOf), now())
  }
  // The sweeper and the submitter end their turns independently; at once, both would publish the same change.
  let last = Promise.resolve()
  return () => {
    last = last.then(publish, publish)
    return last
  }
}
