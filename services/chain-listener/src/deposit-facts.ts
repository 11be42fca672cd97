import { type ChainPayment, formatUsdc, type NewEvent } from '@ponte/contracts'
import type { Transfer, TransferStore } from './store/transfers'

export interface DepositFactsOptions {
  store: TransferStore
  chainId: number
  token: string
  checksum(address: string): string
}

export type DepositFacts = ReturnType<typeof createDepositFacts>

/**
 * What orders hears of transfers to deposit addresses: each as detected, in the sequence of all payments, before the confirmed chain time is
 * announced beyond it; and of each sweep, for which of them it stands.
 */
export function createDepositFacts({ store, chainId, token, checksum }: DepositFactsOptions) {
  let line = -1
  let news = true
  const idOf = (one: Transfer) => `${chainId}:${one.txHash}:transfer-${one.logIndex}`
  const toData = (one: Transfer, sequence: number): ChainPayment => ({
    ...{ payment_id: idOf(one), sequence, revision: 1, chain_id: chainId, memo: one.memo, tx_hash: one.txHash },
    ...{ router_address: checksum(one.router), token_address: checksum(token), merchant_address: checksum(one.merchant) },
    ...{ payer_address: checksum(one.payer), merchant_share: formatUsdc(one.amountUnits - one.feeUnits), fee: formatUsdc(one.feeUnits) },
    ...{ block_number: one.blockNumber, block_hash: one.blockHash, block_time: one.blockTime.toISOString() },
  })
  const complete = async (events: NewEvent[]): Promise<NewEvent[]> => {
    const memos = events.flatMap(event => ('memo' in event.data ? [event.data.memo] : []))
    const transfers = memos.length === 0 ? [] : await store.ofMemos(memos)
    if (transfers.length === 0) return events
    return events.map(event => {
      if (event.type !== 'payment.detected' && event.type !== 'payment.confirmed' && event.type !== 'payment.orphaned') return event
      const { memo, payer_address, block_number } = event.data
      const swept = transfers.filter(
        one => one.memo === memo && one.address === payer_address.toLowerCase() && one.blockNumber <= block_number,
      )
      const last = swept.at(-1)
      if (!last) return event
      return { ...event, data: { ...event.data, replaces: swept.map(idOf), sent_time: last.blockTime.toISOString() } }
    })
  }
  return {
    /** All deposit addresses were looked at as of this block; what was found is in the store. */
    looked(block: number, found: boolean) {
      // What an earlier process found and did not tell waits for the first look of this one.
      news ||= found || line < 0
      line = block
    },
    /** No confirmed block beyond this one is announced. */
    line: () => line,
    hasNews: () => news,
    /** Says of sweeps what they stand for, and adds the transfers that nobody was told of. Answers what to call once it is committed. */
    async addTo(events: NewEvent[], sequence: number): Promise<{ events: NewEvent[]; committed(): Promise<void> }> {
      const completed = await complete(events)
      const untold = news ? await store.untold(line) : []
      const at = line
      const first = sequence + events.length + 1
      const more = untold.map((one, index): NewEvent => ({ type: 'payment.detected', data: toData(one, first + index) }))
      return {
        events: [...completed, ...more],
        async committed() {
          if (untold.length > 0) await store.told(untold)
          if (line === at) news = false
        },
      }
    },
  }
}
