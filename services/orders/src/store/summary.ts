import type { MerchantTerms, SummaryBody, SummaryQuery } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import { civilPeriods } from '../summary/civil-days'
import { type OrderCounts, summaryBody } from '../summary/summary'
import type { attentionStore } from './attention'
import type { ledgerStore } from './ledger'
import type { merchantStore } from './merchants'
import type { payoutSpanStore } from './payout-spans'

interface Parts {
  ledger: ReturnType<typeof ledgerStore>
  merchants: ReturnType<typeof merchantStore>
  attention: ReturnType<typeof attentionStore>
  payoutSpans: ReturnType<typeof payoutSpanStore>
}

const ATTENTION_MAX = 1000

export function summaryStore(database: Database, { ledger, merchants, attention, payoutSpans }: Parts) {
  return async (terms: MerchantTerms, query: SummaryQuery): Promise<SummaryBody> => {
    const merchantId = terms.merchant_id
    const periods = civilPeriods(query.from, query.to, query.timezone, query.by)
    const starts = periods.map(({ start }) => start)
    const [sums, counts, toReturnUnits, closedThrough, ended] = await Promise.all([
      ledger.sums(merchantId, starts, periods.at(-1)?.end ?? new Date(0)),
      openCounts(database, merchantId),
      merchants.payoutPlaces(terms).then(places => attention.leftOverUnits({ merchantId, places })),
      ledger.closedThrough(),
      payoutSpans.ended(merchantId),
    ])
    return summaryBody(query, periods, sums, { ...counts, toReturnUnits, closedThrough, ended })
  }
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
