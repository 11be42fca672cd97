import type { EventData } from '@ponte/contracts'
import { type Database, type Logger, RetryableError } from '@ponte/service-kit'
import { toPayable } from './payable'
import { payableStore } from './store/payables'

export interface IntakeOptions {
  database: Database
  chainId: number
  routers: readonly string[]
  now: () => Date
  logger: Logger
}

/** An order that is not known by then is one of another chain. */
const CREATED_WAIT_MS = 600_000

/** What orders publishes about who may pay, kept also without a relayer: an address is watched, and a relayer may get its key later. */
export function createIntake({ database, chainId, routers, now, logger }: IntakeOptions) {
  const payables = payableStore(database, chainId)
  return {
    async created(data: EventData<'order.created'>, eventId: string): Promise<void> {
      await payables.add({ ...toPayable(data, routers, logger), eventId })
    },
    /** No signature is submitted for it any more. */
    async cancelled(data: EventData<'order.cancelled'>, event: { id: string; occurred_at: string }): Promise<void> {
      const isRecent = now().getTime() - Date.parse(event.occurred_at) < CREATED_WAIT_MS
      if (isRecent && !(await payables.find(data.order.id)))
        throw new RetryableError(`The event of order ${data.order.id} being created has not come yet.`)
      await payables.cancel(data.order.id, event.id, now())
    },
  }
}
export type Intake = ReturnType<typeof createIntake>
