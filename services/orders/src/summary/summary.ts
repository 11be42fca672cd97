import { formatUsdc, type SummaryBody, type SummaryQuery } from '@ponte/contracts'
import { figuresOf, type KindSum } from '../ledger/entry'
import type { CivilPeriod } from './civil-days'

/** Orders that are open, by status, and that have an exception, by exception. */
export type OrderCounts = Pick<SummaryBody, 'open' | 'attention'>

export interface SummaryState extends OrderCounts {
  toReturnUnits: bigint
  closedThrough: Date | null
  /** Payout addresses that are not watched from a block on. */
  ended: readonly { chainId: number; address: string; fromBlock: number }[]
}

/** Every period of the range, with and without entries, and what there was before and is after; `sums` by the index of the period. */
export function summaryBody(
  { timezone, by }: Pick<SummaryQuery, 'timezone' | 'by'>,
  periods: readonly CivilPeriod[],
  sums: ReadonlyMap<number, readonly KindSum[]>,
  { toReturnUnits, closedThrough, ended, open, attention }: SummaryState,
): SummaryBody {
  const all = [...sums]
  const before = sums.get(-1) ?? []
  return {
    object: 'summary',
    timezone,
    by,
    periods: periods.map(({ date }, index) => ({ date, ...figuresOf(sums.get(index) ?? []) })),
    opening: figuresOf(before),
    total: figuresOf(all.flatMap(([period, each]) => (period === -1 ? [] : each))),
    closing: figuresOf(all.flatMap(([, each]) => each)),
    closed_through: closedThrough?.toISOString() ?? null,
    to_return: formatUsdc(toReturnUnits),
    uncounted: ended.map(({ chainId, address, fromBlock }) => ({ chain_id: chainId, address, from_block: fromBlock })),
    open,
    attention,
  }
}
