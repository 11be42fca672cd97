import type { DepositBlocked, NewEvent } from '@ponte/contracts'
import { commitUnit, type Database, outboxRows, type Statement } from '@ponte/service-kit'
import { GENERATION, GENERATION_GUARD, mapLeaseLoss } from '../../store/lease'

/** A change in whether a deposit can be swept, not yet published. Addresses are lower-case. */
export interface BlockedDeposit {
  orderId: string
  memo: string
  merchant: string
  address: string
  reason: DepositBlocked['reason']
  revision: number
  generation: string | null
}

// Raw, in every turn: it compares two columns, as its partial index does.
const UNPUBLISHED = `
  SELECT order_id AS "orderId", memo, merchant, address, blocked_reason AS reason, blocked_revision AS revision, ${GENERATION} FROM payables
  WHERE chain_id = $1 AND blocked_revision > blocked_published LIMIT 500`
const PUBLISHED: Statement = {
  name: 'payables-published',
  text: `WITH ${GENERATION_GUARD}
    UPDATE payables SET blocked_published = change.revision
    FROM unnest($orders::uuid[], $revisions::int[]) AS change (order_id, revision)
    WHERE payables.chain_id = $chain_id AND payables.order_id = change.order_id AND blocked_published < change.revision`,
}

export type BlockedStore = ReturnType<typeof blockedStore>

export const blockedStore = (database: Database, chainId: number) => ({
  /** Changes in what can be swept that are not published yet. */
  unpublished: async (): Promise<BlockedDeposit[]> =>
    (await database.query<BlockedDeposit>({ name: 'payables-unpublished', text: UNPUBLISHED }, [chainId])).rows,
  /** Throws LeaseLostError where another generation has begun since they were read. */
  async publish(changes: readonly BlockedDeposit[], events: readonly NewEvent[], at: Date): Promise<void> {
    const values = {
      ...{ chain_id: chainId, generation: changes[0]?.generation ?? null },
      orders: changes.map(({ orderId }) => orderId),
      revisions: changes.map(({ revision }) => revision),
    }
    await mapLeaseLoss(commitUnit(database, { events: outboxRows(events, at), write: PUBLISHED, values }))
  },
})
