import type { EventData } from '@ponte/contracts'
import type { Database, Logger } from '@ponte/service-kit'
import type { GenerationStore } from '../store/generation'
import { toPayable } from './payable'
import { payableStore } from './store/payables'
import { payoutStore } from './store/payouts'

export interface IntakeOptions {
  database: Database
  history: GenerationStore
  chainId: number
  routers: readonly string[]
  /** A new generation has begun: what is held in memory belongs to the one before. */
  forgot(): void
  /** Orders asks for something that the scan answers. */
  asked(): void
  now: () => Date
  logger: Logger
}

/** Kept also without a relayer: an address is watched, and a relayer may get its key later. */
export function createIntake({ database, history, chainId, routers, forgot, asked, now, logger }: IntakeOptions) {
  const payables = payableStore(database, chainId)
  const payouts = payoutStore(database, chainId)
  const begun = (isNew: boolean) => {
    if (!isNew) return
    logger.error('this database has lost what orders has seen of it; a new generation begins', { chain_id: chainId })
    forgot()
  }
  return {
    async watch({ chain_id, generation, orders }: EventData<'deposit.watch'>, eventId: string): Promise<void> {
      if (chain_id !== chainId) return
      if (generation !== null) begun(await history.overtake(generation))
      await payables.add({ eventId, payables: orders.map(order => toPayable(order, routers, logger)) })
      asked()
    },
    async watchPayouts({ chain_id, generation, payouts: incoming }: EventData<'payout.watch'>, eventId: string): Promise<void> {
      if (chain_id !== chainId) return
      if (generation !== null) begun(await history.overtake(generation))
      await payouts.add(incoming, eventId)
      asked()
    },
    async followed(data: EventData<'chain.followed'>, eventId: string): Promise<void> {
      if (data.chain_id === chainId) begun(await history.follow(data, eventId))
    },
    /** No signature is submitted for it any more, also when it comes before the order. */
    async cancelled(data: EventData<'order.cancelled'>, eventId: string): Promise<void> {
      await payables.cancel(data.order.id, eventId, now())
    },
  }
}
export type Intake = ReturnType<typeof createIntake>
