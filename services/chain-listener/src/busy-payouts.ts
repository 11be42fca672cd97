import { every, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import type { CoverageStore } from './store/coverage'

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
