import type { NewEvent } from '@ponte/contracts'
import { formatUsdc } from '@ponte/contracts'
import type { AuthorizationChange } from './store/authorization'
import type { AuthorizationStore } from './store/authorizations'

/** Publishes what became of payers' signatures since the last time: the newest state of each, with its revision. */
export function createPublisher(
  store: AuthorizationStore,
  chainId: number,
  checksum: (address: string) => string,
  now: () => Date,
): () => Promise<void> {
  const eventOf = (one: AuthorizationChange): NewEvent => ({
    type: 'authorization.changed',
    data: {
      chain_id: chainId,
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
  return async () => {
    const changes = await store.changed()
    if (changes.length > 0) await store.publish(changes, changes.map(eventOf), now())
  }
}
