import type { ListSubscriptions, MerchantTerms, OrderBody } from '@ponte/contracts'
import { type Database, keysetPage, type Statement } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { toEvents } from './events'
import { type Merchant, PrismaClient } from './generated/client'
import { type Cause, writeChange, writeNew } from './store/commit'
import { toCharge, toSubscription } from './store/subscription-row'
import type { Change, Charge, Subscription } from './subscription'

export type Store = ReturnType<typeof openStore>

export interface StoreOptions {
  now: () => Date
  committed(change: Change): void
}

const CREATED: Statement = {
  name: 'order-created',
  text: 'UPDATE attempts SET order_body = coalesce(order_body, $body) WHERE order_id = $order_id',
}

const CLAIM = `
  UPDATE subscriptions SET claimed_until = now() + interval '30 seconds'
  WHERE id = ANY(ARRAY(
    SELECT id FROM subscriptions WHERE wake_at <= $1 AND (claimed_until IS NULL OR claimed_until < now())
    ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED))
  RETURNING id`

const ATTEMPTS = { orderBy: { issuedAt: 'asc' }, omit: { orderBody: true } } as const

/** Charges that can still change. */
const MATTERS = [{ status: 'open' }, { attempts: { some: { status: 'open' } } }]

const toTerms = (row: Merchant): MerchantTerms => ({
  merchant_id: row.id,
  version: row.version,
  display_name: row.displayName,
  payout_address: row.payoutAddress,
})

/** Reads go through Prisma, every commit is one SQL statement: row, inbox and outbox together or not at all. */
export function openStore(database: Database, { now, committed }: StoreOptions) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })

  /** A subscription with the charges that can still change, and the one that `orderId` asks for. */
  const find = async (id: string, orderId?: string): Promise<Subscription | null> => {
    const asked = orderId === undefined ? [] : [{ attempts: { some: { orderId } } }]
    const charges = {
      where: { OR: [...MATTERS, ...asked] },
      orderBy: { periodIndex: 'asc' as const },
      include: { attempts: ATTEMPTS },
    }
    const row = await prisma.subscription.findUnique({ where: { id }, include: { charges } })
    return row && toSubscription(row)
  }
  /** Those with these ids, in their order. */
  const findAll = async (ids: string[]): Promise<Subscription[]> => {
    const charges = { where: { OR: MATTERS }, orderBy: { periodIndex: 'asc' as const }, include: { attempts: ATTEMPTS } }
    const rows = await prisma.subscription.findMany({ where: { id: { in: ids } }, include: { charges } })
    const byId = new Map(rows.map(row => [row.id, row]))
    return ids.flatMap(id => byId.get(id) ?? []).map(toSubscription)
  }
  const newestTerms = async (merchantId: string) => toTerms(await prisma.merchant.findUniqueOrThrow({ where: { id: merchantId } }))

  return {
    find,

    /** Whose order it is, or null when no subscription asked for it. */
    async findByOrder(orderId: string): Promise<Subscription | null> {
      const attempt = await prisma.attempt.findUnique({ where: { orderId }, select: { subscriptionId: true } })
      return attempt && find(attempt.subscriptionId, orderId)
    },

    /** Subscriptions of a merchant, newest first; oldest first when paging backwards. */
    async list(merchantId: string, query: ListSubscriptions, limit: number): Promise<Subscription[]> {
      const { text, values } = keysetPage({
        select: 'id',
        from: 'subscriptions',
        owner: ['merchant_id', merchantId],
        leading: [
          ['external_ref', 'text', query.external_ref],
          ['status', 'text', query.status],
        ],
        query,
        limit,
      })
      const { rows } = await database.query<{ id: string }>(text, values)
      return findAll(rows.map(row => row.id))
    },

    /** The latest periods, newest first. */
    async charges(id: string, limit: number): Promise<Charge[]> {
      const rows = await prisma.charge.findMany({
        where: { subscriptionId: id },
        include: { attempts: ATTEMPTS },
        orderBy: { periodIndex: 'desc' },
        take: limit,
      })
      return rows.map(toCharge)
    },

    async insert(subscription: Subscription, cause: Cause): Promise<void> {
      await writeNew(database, subscription, cause, now())
      committed({ from: subscription, subscription, facts: [] })
    },

    /** Commits a change under the merchant's terms: those of the request, those just read, or the newest that were heard. */
    async commit(change: Change, cause: Cause, read?: MerchantTerms): Promise<Subscription> {
      const known = change.facts.length > 0 ? (cause.terms ?? read ?? (await newestTerms(change.subscription.merchantId))) : null
      await writeChange(database, change, known ? toEvents(change, known, cause.merchantVersion) : [], cause, now())
      committed(change)
      return change.subscription
    },

    /** Stores the order as orders created it. Answers false, with nothing written, when no subscription asked for it. */
    async recordCreated(order: OrderBody, eventId: string): Promise<boolean> {
      if (!(await prisma.attempt.findUnique({ where: { orderId: order.id }, select: { orderId: true } }))) return false
      await database.commit({ inbox: [eventId], write: CREATED, values: { order_id: order.id, body: JSON.stringify(order) } })
      return true
    },

    /** The order as it was created, as JSON text; null while orders has not said so. */
    async orderBody(orderId: string): Promise<string | null> {
      const row = await prisma.attempt.findUnique({ where: { orderId }, select: { orderBody: true } })
      return row?.orderBody ?? null
    },

    /** Takes subscriptions that are due in hand, for this scheduler alone, with their merchants' terms; an unused claim ends by itself. */
    async claimDue(limit: number): Promise<{ subscription: Subscription; terms: MerchantTerms }[]> {
      const { rows } = await database.query<{ id: string }>({ name: 'claim-due', text: CLAIM }, [now(), limit])
      if (rows.length === 0) return []
      const claimed = await findAll(rows.map(row => row.id))
      const known = await prisma.merchant.findMany({ where: { id: { in: [...new Set(claimed.map(({ merchantId }) => merchantId))] } } })
      const byMerchant = new Map(known.map(row => [row.id, toTerms(row)]))
      return claimed.flatMap(subscription => {
        const terms = byMerchant.get(subscription.merchantId)
        return terms ? [{ subscription, terms }] : []
      })
    },

    /** How long the most overdue subscription has waited, in seconds; 0 when nothing is due. */
    async overdueS(): Promise<number> {
      const { rows } = await database.query<{ wake_at: Date | null }>(
        'SELECT min(wake_at) AS wake_at FROM subscriptions WHERE wake_at <= $1',
        [now()],
      )
      const wakeAt = rows[0]?.wake_at
      return wakeAt ? Math.max(0.001, (now().getTime() - wakeAt.getTime()) / 1000) : 0
    },
  }
}
