import type { SummaryBody, SummaryQuery } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import { civilDays, type OrderCounts, type PaidSums, summaryBody } from '../summary'

const ATTENTION_MAX = 1000

/** Sums of paid orders by day of payment, from `orders_merchant_paid` alone: orders that are not paid cost nothing. */
export function summaryStore(database: Database) {
  return async (merchantId: string, { from, to, timezone }: SummaryQuery): Promise<SummaryBody> => {
    const days = civilDays(from, to, timezone)
    const [sums, counts] = await Promise.all([
      paidSums(
        database,
        merchantId,
        days.map(({ start }) => start),
        days.at(-1)?.end ?? new Date(0),
      ),
      openCounts(database, merchantId),
    ])
    return summaryBody(timezone, days, sums, counts)
  }
}

// Raw SQL: sums by civil day, which Prisma cannot group by.
async function paidSums(database: Database, merchantId: string, starts: Date[], end: Date): Promise<Map<number, PaidSums>> {
  const { rows } = await database.query<{ day: number; orders: string; brl: string; usdc: string; fee: string }>(
    `SELECT width_bucket(paid_at, $2::timestamptz[]) - 1 AS day, count(*) AS orders, sum(brl_centavos) AS brl, sum(usdc_units) AS usdc,
       sum(fee_units) AS fee
     FROM orders WHERE merchant_id = $1 AND status = 'paid' AND paid_at >= $3 AND paid_at < $4 GROUP BY 1`,
    [merchantId, starts, starts[0], end],
  )
  return new Map(
    rows.map(row => [
      row.day,
      { orders: Number(row.orders), brlCentavos: BigInt(row.brl), usdcUnits: BigInt(row.usdc), feeUnits: BigInt(row.fee) },
    ]),
  )
}

// Raw SQL: counts by two columns in one round trip, the second one bounded.
async function openCounts(database: Database, merchantId: string): Promise<OrderCounts> {
  const { rows } = await database.query<{ name: string; orders: string }>(
    `SELECT status AS name, count(*) AS orders FROM orders WHERE merchant_id = $1 AND status IN ('pending', 'confirming', 'underpaid') GROUP BY 1
     UNION ALL
     SELECT exception, count(*) FROM (SELECT exception FROM orders WHERE merchant_id = $1 AND exception IS NOT NULL
       AND handled_facts IS DISTINCT FROM (status || '/' || coalesce(exception, '') || '/' || confirmed_units::text) LIMIT $2) AS excepted GROUP BY 1`,
    [merchantId, ATTENTION_MAX],
  )
  const count = (name: string) => Number(rows.find(row => row.name === name)?.orders ?? 0)
  return {
    open: { pending: count('pending'), confirming: count('confirming'), underpaid: count('underpaid') },
    attention: {
      overpaid: count('overpaid'),
      paid_late: count('paid_late'),
      paid_after_cancel: count('paid_after_cancel'),
      duplicate: count('duplicate'),
      reorged: count('reorged'),
    },
  }
}
