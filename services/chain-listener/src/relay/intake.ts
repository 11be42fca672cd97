import type { EventData } from '@ponte/contracts'
import type { Database, Logger } from '@ponte/service-kit'
import { toPayable } from './payable'
import { payableStore } from './store/payables'

export interface IntakeOptions {
  database: Database
  chainId: number
  routers: readonly string[]
  now: () => Date
  logger: Logger
}

/** What orders publishes about who may pay, kept also without a relayer: an address is watched, and a relayer may get its key later. */
export function createIntake({ database, chainId, routers, now, logger }: IntakeOptions) {
  const payables = payableStore(database, chainId)
  return {
    async created(data: EventData<'order.created'>, eventId: string): Promise<void> {
      await payables.add({ ...toPayable(data, routers, logger), eventId })
    },
    /** No signature is submitted for it any more, also when it comes before the order. */
    async cancelled(data: EventData<'order.cancelled'>, eventId: string): Promise<void> {
      await payables.cancel(data.order.id, eventId, now())
    },
  }
}
export type Intake = ReturnType<typeof createIntake>
