import { type ChargeRequested, eventTable, type MerchantTerms, type NewEvent } from '@ponte/contracts'
import { commitUnit, type Database, isUniqueViolation, outboxRows, type Statement, type Unit } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { Change, WantedCharge } from '../order'
import { isKnownOrder, newOrder, type OrderStoreOptions } from './order-writes'

// Raw SQL because it commits with its event. A charge with an outcome waits for nothing: its withdrawal may have come before it.
const HOLD: Statement = {
  name: 'charge-hold',
  text: `
  INSERT INTO waiting_charges (order_id, merchant_id, request, reason, created_at, next_try_at, ends_at)
  SELECT $order_id::uuid, $merchant_id::uuid, $request::text, $reason::text, $at::timestamptz, to_timestamp(0), $ends_at::timestamptz
  WHERE NOT EXISTS (SELECT FROM charge_outcomes WHERE order_id = $order_id::uuid) ON CONFLICT DO NOTHING`,
}

// Raw SQL because it commits with its event.
const END: Statement = {
  name: 'charge-end',
  text: `
  WITH gone AS (DELETE FROM waiting_charges WHERE order_id = $order_id::uuid)
  INSERT INTO charge_outcomes (order_id, outcome) VALUES ($order_id::uuid, $outcome::text)`,
}

// Raw SQL because the time follows from the row's own tries.
const POSTPONE = `
  UPDATE waiting_charges SET tries = tries + 1, reason = $2, next_try_at = $3::timestamptz + least(interval '5 minutes', interval '1 second' * 2 ^ least(tries, 10))
  WHERE order_id = $1`

/** Raw SQL for the database's clock. Longer than any charge lives; its order is found by its own key by then. */
const PRUNE = "DELETE FROM charge_outcomes WHERE created_at < now() - interval '60 days'"

/** Whose charge it is, as events about it name it. */
export interface ChargeOwner {
  merchant_id: string
  merchant_version: number
  subscription_id: string
  order_id: string
}

export const chargeOwner = ({ terms, subscription_id, order_id }: ChargeRequested): ChargeOwner => ({
  merchant_id: terms.merchant_id,
  merchant_version: terms.version,
  subscription_id,
  order_id,
})

/** Charges that wait until they can be opened, and what became of those that never were. */
export function chargeStore(database: Database, prisma: PrismaClient, { now, committed }: OrderStoreOptions) {
  const events = (...list: NewEvent[]) => outboxRows(list, now())
  return {
    /** Keeps a charge until it can be opened, with the reason why it waits. */
    async hold({ request, endsAt }: WantedCharge, reason: string, eventId: string): Promise<void> {
      const { order_id, terms } = request
      await database.commit({
        inbox: [eventId],
        events: events({ type: 'order.waiting', data: { ...chargeOwner(request), reason } }),
        write: HOLD,
        values: { order_id, merchant_id: terms.merchant_id, request: JSON.stringify(request), reason, at: now(), ends_at: endsAt },
      })
    },

    /** Those whose time has come, the longest waiting first. A row of the release before has an end of its own from then on. */
    async waiting(at: Date, limit: number): Promise<WantedCharge[]> {
      const rows = await prisma.waitingCharge.findMany({ where: { nextTryAt: { lte: at } }, orderBy: { nextTryAt: 'asc' }, take: limit })
      return rows.map(row => {
        const request = eventTable['subscription.charge_requested'].parse(JSON.parse(row.request))
        return { request, endsAt: row.endsAt ?? new Date(row.createdAt.getTime() + request.expires_in * 1000) }
      })
    },

    /** How many wait, and for how many seconds the oldest of them has. */
    async waitingCount(): Promise<number> {
      return prisma.waitingCharge.count()
    },
    async oldestAgeS(): Promise<number> {
      const oldest = await prisma.waitingCharge.findFirst({ select: { createdAt: true }, orderBy: { createdAt: 'asc' } })
      return oldest ? Math.max(0, (now().getTime() - oldest.createdAt.getTime()) / 1000) : 0
    },

    /** One that cannot be opened for a reason of its own is tried less and less often. */
    async postpone(orderId: string, reason: string, at: Date): Promise<void> {
      await database.query({ name: 'charge-postpone', text: POSTPONE }, [orderId, reason, at])
    },

    /** Writes the order of a waiting charge. False when another replica has it in hand, or it was withdrawn or opened meanwhile. */
    async open(change: Change): Promise<boolean> {
      const orderId = change.order.id
      try {
        const isOpened = await database.transaction(async sql => {
          const { rowCount } = await sql.query('SELECT 1 FROM waiting_charges WHERE order_id = $1 FOR UPDATE SKIP LOCKED', [orderId])
          if (rowCount === 1) await commitUnit(sql, newOrder(change, now()))
          return rowCount === 1
        })
        if (isOpened) committed(change)
        return isOpened
      } catch (error) {
        if (!isKnownOrder(error)) throw error
        await prisma.waitingCharge.deleteMany({ where: { orderId } })
        return false
      }
    },

    /**
     * The end of a charge whose order was never opened: a tombstone, because the charge itself may come later. False, with nothing written, when it
     * has an outcome already.
     */
    async end(owner: ChargeOwner, outcome: 'withdrawn' | 'lapsed' | 'refused', reason: string, eventId?: string): Promise<boolean> {
      const unit: Unit = {
        inbox: eventId === undefined ? [] : [eventId],
        events: events({ type: 'order.refused', data: { ...owner, reason } }),
        write: END,
        values: { order_id: owner.order_id, outcome },
      }
      try {
        await database.commit(unit)
        return true
      } catch (error) {
        if (isUniqueViolation(error, 'charge_outcomes_pkey')) return false
        throw error
      }
    },

    /** An event that changes nothing. */
    async recordEvent(eventId: string): Promise<void> {
      await database.commit({ inbox: [eventId] })
    },

    /** What waits for this merchant's payout address is tried at once. */
    async hurry({ merchant_id }: MerchantTerms, at: Date): Promise<void> {
      await prisma.waitingCharge.updateMany({
        where: { merchantId: merchant_id, nextTryAt: { gt: at } },
        data: { nextTryAt: at, tries: 0 },
      })
    },

    async prune(): Promise<void> {
      await database.query(PRUNE)
    },
  }
}
