import { type ChargeRequested, eventTable, type MerchantTerms, type NewEvent } from '@ponte/contracts'
import { type Database, outboxRows, type Statement, type Unit } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { WantedCharge } from '../order/charge'

// Raw SQL because it commits with its event. A charge that is settled stays so: its withdrawal may have come before it.
const HOLD: Statement = {
  name: 'charge-hold',
  text: `
  INSERT INTO charges (order_id, state, merchant_id, request, reason, created_at, next_try_at, ends_at)
  VALUES ($order_id::uuid, 'waiting', $merchant_id::uuid, $request::text, $reason::text, $at::timestamptz, to_timestamp(0), $ends_at::timestamptz)
  ON CONFLICT DO NOTHING`,
}

/**
 * `INSERT` of charges in their final state, or the end of their wait. A charge has one: one that is settled already becomes NULL, which the column
 * refuses, with everything else in the statement.
 */
export const settleCharges = (source: string) => `
  INSERT INTO charges AS known (order_id, state) ${source}
  ON CONFLICT (order_id) DO UPDATE SET request = NULL, state = CASE WHEN known.state = 'waiting' THEN EXCLUDED.state END`

export const isSettledCharge = (error: unknown): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === '23502' && Reflect.get(error, 'column') === 'state'

// Raw SQL because it commits with its event.
const END: Statement = { name: 'charge-end', text: settleCharges('VALUES ($order_id::uuid, $state::text)') }

// Raw SQL because the time follows from the row's own tries. A dependency that all of them wait for returns for all at once.
const POSTPONE = `
  UPDATE charges SET tries = tries + 1, reason = $2,
    next_try_at = now() + CASE WHEN $3 THEN interval '3 seconds' ELSE least(interval '5 minutes', interval '1 second' * 2 ^ least(tries, 10)) END
  WHERE order_id = $1 AND state = 'waiting'`

/** Raw SQL for the database's clock. Longer than any charge lives; its order is found by its own key by then. */
const PRUNE = "DELETE FROM charges WHERE state <> 'waiting' AND created_at < now() - interval '60 days'"

/** As events about a charge name its owner. */
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
export function chargeStore(database: Database, prisma: PrismaClient, { now }: { now: () => Date }) {
  const events = (...list: NewEvent[]) => outboxRows(list, now())
  return {
    async hold({ request, endsAt }: WantedCharge, reason: string, eventId: string): Promise<void> {
      const { order_id, terms } = request
      await database.commit({
        inbox: [eventId],
        events: events({ type: 'order.waiting', data: { ...chargeOwner(request), reason } }),
        write: HOLD,
        values: { order_id, merchant_id: terms.merchant_id, request: JSON.stringify(request), reason, at: now(), ends_at: endsAt },
      })
    },

    async waiting(at: Date, limit: number): Promise<{ orderId: string; wanted(): WantedCharge }[]> {
      const where = { state: 'waiting', nextTryAt: { lte: at } }
      const rows = await prisma.charge.findMany({ where, orderBy: { nextTryAt: 'asc' }, take: limit })
      return rows.map(({ orderId, request, endsAt }) => ({
        orderId,
        wanted() {
          if (request === null || endsAt === null) throw new Error(`Charge ${orderId} waits without a request.`)
          return { request: eventTable['subscription.charge_requested'].parse(JSON.parse(request)), endsAt }
        },
      }))
    },

    async waitingCount(): Promise<number> {
      return prisma.charge.count({ where: { state: 'waiting' } })
    },
    async oldestAgeS(): Promise<number> {
      const oldest = await prisma.charge.findFirst({
        select: { createdAt: true },
        where: { state: 'waiting' },
        orderBy: { createdAt: 'asc' },
      })
      return oldest ? Math.max(0, (now().getTime() - oldest.createdAt.getTime()) / 1000) : 0
    },

    /** One that cannot be opened is tried again later: less and less often when the reason is its own. */
    async postpone(orderId: string, reason: string, isEverybodys: boolean): Promise<void> {
      await database.query({ name: 'charge-postpone', text: POSTPONE }, [orderId, reason, isEverybodys])
    },

    /**
     * The end of a charge whose order was never opened, also before the charge itself has come. False, with nothing written, when it is settled already.
     */
    async end(owner: ChargeOwner, state: 'withdrawn' | 'lapsed' | 'refused', reason: string, eventId?: string): Promise<boolean> {
      const unit: Unit = {
        inbox: eventId === undefined ? [] : [eventId],
        events: events({ type: 'order.refused', data: { ...owner, reason } }),
        write: END,
        values: { order_id: owner.order_id, state },
      }
      try {
        await database.commit(unit)
        return true
      } catch (error) {
        if (isSettledCharge(error)) return false
        throw error
      }
    },

    async recordEvent(eventId: string): Promise<void> {
      await database.commit({ inbox: [eventId] })
    },

    /** Charges that wait for this merchant's payout address are tried at once. */
    async hurry({ merchant_id }: MerchantTerms, at: Date): Promise<void> {
      await prisma.charge.updateMany({
        where: { merchantId: merchant_id, state: 'waiting', nextTryAt: { gt: at } },
        data: { nextTryAt: at, tries: 0 },
      })
    },

    async prune(): Promise<void> {
      await database.query(PRUNE)
    },
  }
}
