import type { PayoutWatch } from '@ponte/contracts'
import { profileOf } from '@ponte/payment-router'
import type { Database } from '@ponte/service-kit'
import { ADD_PAYOUTS } from './add'

/** Payout addresses that orders asks to be watched. */
export const payoutStore = (database: Database, chainId: number) => ({
  /** Keeps each once, lower-case. */
  async add(payouts: PayoutWatch['payouts'], eventId: string): Promise<void> {
    const byAddress = new Map(payouts.map(payout => [payout.address.toLowerCase(), payout]))
    const incoming = [...byAddress.values()]
    await database.commit({
      inbox: [eventId],
      write: ADD_PAYOUTS,
      values: {
        chain_id: chainId,
        addresses: [...byAddress.keys()],
        watch_from: incoming.map(({ watch_from }) => watch_from),
        since: incoming.map(({ since }) => Date.parse(since) / 1_000),
        block_ms: profileOf(chainId).blockMs,
      },
    })
  },
})
