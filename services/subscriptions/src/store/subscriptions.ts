import type { ListSubscriptions, MerchantTerms } from '@ponte/contracts'
import { type Database, type Found, keysetPage } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import { type Change, type Charge, type Dunning, type Subscription, toEvents } from '../subscription'
import { type Cause, writeChange, writeNew } from './commit'
import type { merchantStore } from './merchants'
import { toCharge, toSubscription } from './subscription-row'

export interface StoreOptions {
  now: () => Date
  /** What is done about an unpaid plan that has no setting of its own. */
  dunning: Dunning
  /** Called after each commit. */
  committed(change: Change): void
}

// Raw SQL because replicas claim past each other's locks; in order of the index on what is due.
const CLAIM_DUE = `
  UPDATE subscriptions SET claimed_until = now() + interval '30 seconds'
  WHERE id = ANY(ARRAY(
    SELECT id FROM subscriptions WHERE wake_at <= $1 AND (claimed_until IS NULL OR claimed_until < now())
    ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED))
  RETURNING id`

const ATTEMPTS = { orderBy: { issuedAt: 'asc' }, omit: { orderBody: true, orderState: true, orderStateRevision: true } } as const

// Raw SQL for a join. What waited for a payout address is due once the merchant has one; the version keeps a commit that knew of none from hiding it again.
const RESUME = `
  UPDATE subscriptions SET awaiting = NULL, wake_at = least(wake_at, $1), version = subscriptions.version + 1
  FROM merchants WHERE merchants.id = merchant_id AND awaiting = 'payout_address' AND payout_address IS NOT NULL`

/** A charge that is loaded whatever became of it: by one of its orders, or by its period. */
export type AskedCharge = { orderId: string } | { periodIndex: number }

const chargeAskedFor = (asked: AskedCharge) => ('orderId' in asked ? { attempts: { some: asked } } : asked)

/** Charges that can still change. */
const UNSETTLED = [{ status: 'open' }, { attempts: { some: { status: 'open' } } }]

export function subscriptionStore(
  database: Database,
  prisma: PrismaClient,
  merchants: ReturnType<typeof merchantStore>,
  { now, dunning, committed }: StoreOptions,
) {
  /** A subscription with the charges that can still change, and the one that is asked about. */
  const find = async (which: { id: string } | { payerToken: string }, asked?: AskedCharge): Promise<Subscription | null> => {
    const charges = {
      where: { OR: [...UNSETTLED, ...(asked ? [chargeAskedFor(asked)] : [])] },
      orderBy: { periodIndex: 'asc' as const },
      include: { attempts: ATTEMPTS },
    }
    const row = await prisma.subscription.findUnique({ where: which, include: { charges } })
    return row && toSubscription(row, dunning)
  }
  /** Those with these ids, in their order. */
  const findAll = async (ids: string[]): Promise<Subscription[]> => {
    const charges = { where: { OR: UNSETTLED }, orderBy: { periodIndex: 'asc' as const }, include: { attempts: ATTEMPTS } }
    const rows = await prisma.subscription.findMany({ where: { id: { in: ids } }, include: { charges } })
    const byId = new Map(rows.map(row => [row.id, row]))
    return ids.flatMap(id => byId.get(id) ?? []).map(row => toSubscription(row, dunning))
  }

  return {
    find: (id: string, asked?: AskedCharge) => find({ id }, asked),

    findByPayerToken: (payerToken: string) => find({ payerToken }),

    /** The subscription that asked for this order, or null when none did. */
    async findByOrder(orderId: string): Promise<Subscription | null> {
      const attempt = await prisma.attempt.findUnique({ where: { orderId }, select: { subscriptionId: true } })
      return attempt && find({ id: attempt.subscriptionId }, { orderId })
    },

    /** Subscriptions of a merchant, newest first; oldest first when paging backwards. */
    async list(merchantId: string, query: ListSubscriptions, limit: number): Promise<Found<Subscription>> {
      const { rows, searchedTo } = await keysetPage<{ id: string }>(database, {
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
      return { rows: await findAll(rows.map(row => row.id)), searchedTo }
    },

    /** The latest periods, newest first. */
    async latestCharges(id: string, limit: number): Promise<Charge[]> {
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

    /** Commits a change under the merchant's terms: those of the request, those just read, or the newest that are known. */
    async commit(change: Change, cause: Cause, read?: MerchantTerms): Promise<Subscription> {
      const terms = cause.terms ?? read
      const known = change.facts.length > 0 ? (terms ?? (await merchants.find(change.subscription.merchantId))) : null
      await writeChange(database, change, known ? toEvents(change, known, cause.merchantVersion) : [], cause, now())
      committed(change)
      return change.subscription
    },

    /** Claims subscriptions that are due for this scheduler alone, with their merchants' terms; an unused claim ends by itself. */
    async claimDue(limit: number): Promise<{ subscription: Subscription; terms: MerchantTerms }[]> {
      await database.query({ name: 'resume-awaiting', text: RESUME }, [now()])
      const { rows } = await database.query<{ id: string }>({ name: 'claim-due', text: CLAIM_DUE }, [now(), limit])
      if (rows.length === 0) return []
      const claimed = await findAll(rows.map(row => row.id))
      const known = await merchants.findAll(claimed.map(({ merchantId }) => merchantId))
      return claimed.flatMap(subscription => {
        const terms = known.get(subscription.merchantId)
        return terms ? [{ subscription, terms }] : []
      })
    },

    /** Plans whose period waits for a payout address of their merchant. */
    awaitingCount: () => prisma.subscription.count({ where: { awaiting: { not: null } } }),

    /** How long the most overdue subscription has waited, in seconds; 0 when nothing is due. */
    async overdueS(): Promise<number> {
      const first = await prisma.subscription.findFirst({
        select: { wakeAt: true },
        where: { wakeAt: { lte: now() } },
        orderBy: { wakeAt: 'asc' },
      })
      return first?.wakeAt ? Math.max(0.001, (now().getTime() - first.wakeAt.getTime()) / 1000) : 0
    },
  }
}
