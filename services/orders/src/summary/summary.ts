import { formatBrl, formatUsdc, type SummaryBody } from '@ponte/contracts'
import type { CivilDay } from './civil-days'

/** Sums of orders paid in a span. */
export interface PaidSums {
  orders: number
  brlCentavos: bigint
  usdcUnits: bigint
  feeUnits: bigint
}

/** Orders that are open, by status, and that have an exception, by exception. */
export type OrderCounts = Pick<SummaryBody, 'open' | 'attention'>

const NOTHING: PaidSums = { orders: 0, brlCentavos: 0n, usdcUnits: 0n, feeUnits: 0n }

/** Every day of the span, with and without payments, and their total; `sums` by the index of the day. */
export function summaryBody(
  timezone: string,
  days: readonly CivilDay[],
  sums: ReadonlyMap<number, PaidSums>,
  counts: OrderCounts,
): SummaryBody {
  const total = [...sums.values()].reduce(
    (all, day) => ({
      orders: all.orders + day.orders,
      brlCentavos: all.brlCentavos + day.brlCentavos,
      usdcUnits: all.usdcUnits + day.usdcUnits,
      feeUnits: all.feeUnits + day.feeUnits,
    }),
    NOTHING,
  )
  return {
    object: 'summary',
    timezone,
    days: days.map(({ date }, index) => ({ date, ...figures(sums.get(index) ?? NOTHING) })),
    total: figures(total),
    ...counts,
  }
}

const figures = ({ orders, brlCentavos, usdcUnits, feeUnits }: PaidSums) => ({
  orders,
  brl_amount: formatBrl(brlCentavos),
  usdc_amount: formatUsdc(usdcUnits),
  platform_fee: formatUsdc(feeUnits),
  expected: formatUsdc(usdcUnits - feeUnits),
})
