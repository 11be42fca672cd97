import { type Database, every, type Logger, type Metrics, outboxRows, type Part } from '@ponte/service-kit'
import type { CoverageStore } from './store/coverage'
import { payoutSpanStore } from './store/payout-spans'

export interface BusyPayoutsOptions {
  coverage: Pick<CoverageStore, 'endBusyPayouts' | 'floodedPayouts' | 'endedPayouts'>
  isLeading(): boolean
  metrics: Metrics
  logger: Logger
}

/**
 * Anyone can name the wallet of an exchange as their payout address: more transfers than so many in so many blocks are no merchant's. Only those of a whole
 * USDC count: transfers of nothing would end the watching of any address for the price of their gas, these for as many USDC, which the merchant keeps.
 */
const BOUNDS = { blocks: 20_000, max: 10_000, worthUnits: 1_000_000n }
const EVERY_MS = 600_000

/** Ends the watching of such addresses, and counts those that strangers fill with what is worth less. */
export function busyPayouts({ coverage, isLeading, metrics, logger }: BusyPayoutsOptions): Part {
  let flooded = 0
  const { blocks, max } = BOUNDS
  metrics.observed(
    'ponte_payout_addresses_ended',
    'Payout addresses that are not watched any more, or will not be: too much comes there',
    () => coverage.endedPayouts(),
  )
  metrics.observed(
    'ponte_payout_addresses_flooded',
    'Payout addresses to which more transfers below a USDC come than to any merchant; only the leader looks',
    () => flooded,
  )
  return every(
    'busy payout addresses',
    EVERY_MS,
    async () => {
      flooded = 0
      if (!isLeading()) return
      for (const address of await coverage.endBusyPayouts(BOUNDS))
        logger.warn('so much comes to a payout address that it is not watched much longer', { address, blocks, max })
      const addresses = await coverage.floodedPayouts(BOUNDS)
      for (const address of addresses) logger.warn('a payout address is flooded with transfers below a USDC', { address, blocks, max })
      flooded = addresses.length
    },
    logger,
  )
}

export interface PayoutSpansOptions {
  database: Database
  chainId: number
  now: () => Date
  logger: Logger
  checksum(address: string): string
  published(): void
}

const PAGE = 500
const PUBLISH_MS = 60_000
/** A database of orders that went back has lost what it was notified of. */
const AGAIN_MS = 86_400_000

/** Notifies orders of the blocks in which payout addresses are watched. Two replicas at once publish the same. */
export function payoutSpans({ database, chainId, now, logger, checksum, published }: PayoutSpansOptions) {
  const store = payoutSpanStore(database, chainId)
  return every(
    'spans of payout addresses',
    PUBLISH_MS,
    async () => {
      const at = now()
      const spans = await store.unpublished(new Date(at.getTime() - AGAIN_MS), PAGE)
      const [first] = spans
      if (!first) return false
      const payouts = spans.map(({ address, revision, watchFrom, watchUntil }) => ({
        ...{ address: checksum(address), revision, watch_from: watchFrom, watch_until: watchUntil },
      }))
      const data = { chain_id: chainId, generation: first.generation, payouts }
      await store.publish(spans, outboxRows([{ type: 'payout.watched', data }], at), at)
      published()
      return spans.length === PAGE
    },
    logger,
  )
}
