import type { EraseCustomers, ListSubscriptions, MerchantTerms } from '@ponte/contracts'
import { type Database, type Found, keysetPage } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import { toEvents } from '../subscription/events'
import type { Change, Charge, Dunning, Subscription } from '../subscription/subscription'
import { type Cause, writeChange, writeNew } from './commit'
import type { merchantStore } from './merchants'
import { type FullRow, toCharge, toSubscription } from './subscription-row'

export interface StoreOptions {
  now: () => Date
  /** For an unpaid plan that has no setting of its own. */
  dunning: Dunning
  /** Called after each commit. */
  committed(change: Change): void
  /** Called with a plan that is due and cannot be read here: a newer release wrote it. */
  unreadable(subscriptionId: string, error: unknown): void
}

/** Charges of a merchant without an answer of orders: more would stand in outboxes and queues before what others wait for. Older ones are taken for lost. */
const UNANSWERED_MAX = 1
const UNANSWERED_S = 10

// Raw SQL because replicas claim past each other's locks. Merchants take turns, the longest due first, so that one merchant's thousands hold up no other. An
// array of one and an order by both columns, so that no other index is chosen than the merchants' own: that of all plans begins with those thousands.
const IS_UNCLAIMED = '(claimed_until IS NULL OR claimed_until < now())'
const CLAIM_DUE = `
  WITH unanswered AS (
    SELECT merchant_id, count(*) AS requests FROM attempts JOIN subscriptions ON subscriptions.id = subscription_id
    WHERE attempts.status = 'open' AND attempts.reason = 'requested' AND issued_at > $1::timestamptz - interval '${UNANSWERED_S} seconds'
    GROUP BY merchant_id),
  due AS (
    SELECT id, wake_at, turn FROM unnest($3::uuid[]) AS looked_at (merchant_id) LEFT JOIN unanswered USING (merchant_id), LATERAL (
      SELECT id, wake_at, row_number() OVER (ORDER BY wake_at) AS turn FROM (
        SELECT id, wake_at FROM subscriptions
        WHERE merchant_id = ANY(ARRAY[looked_at.merchant_id]) AND wake_at <= $1 AND ${IS_UNCLAIMED}
        ORDER BY merchant_id, wake_at LIMIT greatest(0, ${UNANSWERED_MAX} - coalesce(requests, 0))) AS first) AS next)
  UPDATE subscriptions SET claimed_until = now() + interval '30 seconds'
  WHERE id = ANY(ARRAY(
    SELECT id FROM subscriptions WHERE id = ANY(ARRAY(SELECT id FROM due ORDER BY turn, wake_at LIMIT $2)) AND ${IS_UNCLAIMED}
    FOR UPDATE SKIP LOCKED))
  RETURNING id`

/** Orders end by the chain's time, and a report waits for a broker that is away. */
const REPORT_LATE_MS = 3_600_000

const ATTEMPTS = { orderBy: { issuedAt: 'asc' }, omit: { orderBody: true, orderState: true, orderStateRevision: true } } as const

// Raw SQL for a join. What waited for a payout address is due once the merchant has one; the version keeps a commit that knew of none from hiding it again.
const RESUME = `
  UPDATE subscriptions SET awaiting = NULL, wake_at = least(wake_at, $1), version = subscriptions.version + 1, claimed_until = NULL
  FROM merchants WHERE merchants.id = merchant_id AND awaiting = 'payout_address' AND payout_address IS NOT NULL`

// Raw SQL for values inside a document. The version keeps a commit that read the customer from writing it again.
const ERASE_CUSTOMERS = `
  UPDATE subscriptions SET customer = NULL, version = version + 1
  WHERE merchant_id = $1 AND (customer ->> 'tax_id' = $2 OR lower(customer ->> 'email') = $3)`

/** Charges that can still change. */
const UNSETTLED = [{ status: 'open' }, { attempts: { some: { status: 'open' } } }]

export function subscriptionStore(
  database: Database,
  prisma: PrismaClient,
  merchants: ReturnType<typeof merchantStore>,
  { now, dunning, committed, unreadable }: StoreOptions,
) {
  /** A subscription with the charges that can still change, and all from one period on. */
  const find = async (which: { id: string } | { payerToken: string }, fromPeriod?: number): Promise<Subscription | null> => {
    const charges = {
      where: { OR: [...UNSETTLED, ...(fromPeriod === undefined ? [] : [{ periodIndex: { gte: fromPeriod } }])] },
      orderBy: { periodIndex: 'asc' as const },
      include: { attempts: ATTEMPTS },
    }
    const row = await prisma.subscription.findUnique({ where: which, include: { charges } })
    return row && toSubscription(row, dunning)
  }
  const rowsOf = async (ids: string[]): Promise<FullRow[]> => {
    const charges = { where: { OR: UNSETTLED }, orderBy: { periodIndex: 'asc' as const }, include: { attempts: ATTEMPTS } }
    const rows = await prisma.subscription.findMany({ where: { id: { in: ids } }, include: { charges } })
    const byId = new Map(rows.map(row => [row.id, row]))
    return ids.flatMap(id => byId.get(id) ?? [])
  }
  const readDue = (row: FullRow): Subscription[] => {
    try {
      return [toSubscription(row, dunning)]
    } catch (error) {
      unreadable(row.id, error)
      return []
    }
  }

  return {
    find: (id: string, fromPeriod?: number) => find({ id }, fromPeriod),

    findByPayerToken: (payerToken: string) => find({ payerToken }),

    /** The subscription that asked for this order, with every charge since: a payment decides what of them still counts. Null when none asked. */
    async findByOrder(orderId: string): Promise<Subscription | null> {
      const attempt = await prisma.attempt.findUnique({ where: { orderId }, select: { subscriptionId: true, periodIndex: true } })
      return attempt && find({ id: attempt.subscriptionId }, attempt.periodIndex)
    },

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
      return { rows: (await rowsOf(rows.map(row => row.id))).map(row => toSubscription(row, dunning)), searchedTo }
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

    async merchantsDue(): Promise<string[]> {
      await database.query({ name: 'resume-awaiting', text: RESUME }, [now()])
      const due = await prisma.subscription.groupBy({ by: ['merchantId'], where: { wakeAt: { lte: now() } } })
      return due.map(({ merchantId }) => merchantId)
    },

    /** Claims subscriptions of these merchants that are due for this scheduler alone, with their merchants' terms; an unused claim ends by itself. */
    async claimDue(merchantIds: readonly string[], limit: number): Promise<{ subscription: Subscription; terms: MerchantTerms }[]> {
      const { rows } = await database.query<{ id: string }>({ name: 'claim-due', text: CLAIM_DUE }, [now(), limit, merchantIds])
      if (rows.length === 0) return []
      const claimed = (await rowsOf(rows.map(row => row.id))).flatMap(readDue)
      const known = await merchants.findAll(claimed.map(({ merchantId }) => merchantId))
      return claimed.flatMap(subscription => {
        const terms = known.get(subscription.merchantId)
        return terms ? [{ subscription, terms }] : []
      })
    },

    /** Erases customers who have this number or mail address; answers of how many subscriptions. */
    async eraseCustomers(merchantId: string, { tax_id, email }: EraseCustomers): Promise<number> {
      const values = [merchantId, tax_id ?? null, email?.toLowerCase() ?? null]
      return (await database.query({ name: 'erase-customers', text: ERASE_CUSTOMERS }, values)).rowCount ?? 0
    },

    /** When the next plan is due; null without any. */
    async nextAt(): Promise<Date | null> {
      const next = await prisma.subscription.aggregate({ _min: { wakeAt: true } })
      return next._min.wakeAt
    },

    /** Orders that ended longer ago than any report takes, and whose end orders has not reported: their plans wait for it. */
    undecidedCount: () => prisma.attempt.count({ where: { status: 'open', endsAt: { lt: new Date(now().getTime() - REPORT_LATE_MS) } } }),

    /** Plans whose period waits for a payout address of their merchant. */
    awaitingCount: () => prisma.subscription.count({ where: { awaiting: { not: null } } }),

    /** Longest wait among due subscriptions, in seconds; 0 when nothing is due. */
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
