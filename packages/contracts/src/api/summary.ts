import { z } from 'zod'
import { brlAmount, usdcAmount } from '../fields'
import { timezone } from './subscription'

const civilDate = z.iso.date().meta({ description: 'A civil date', example: '2026-11-20' })
const SPAN_MAX_DAYS = 92
const DAY_MS = 86_400_000

/** Query of `GET /api/v1/merchants/me/summary`: civil days of a time zone, the last one included. */
export const summaryQuery = z.strictObject({ from: civilDate, to: civilDate, timezone }).refine(
  ({ from, to }) => {
    const days = (Date.parse(to) - Date.parse(from)) / DAY_MS
    return days >= 0 && days < SPAN_MAX_DAYS
  },
  { path: ['to'], message: `must lie after from, by less than ${SPAN_MAX_DAYS} days` },
)
export type SummaryQuery = z.infer<typeof summaryQuery>

/** Figures of the same orders: those paid in a span of time. */
const paidFigures = {
  orders: z.int().meta({ description: 'Orders paid' }),
  brl_amount: brlAmount.meta({ description: 'What they asked for in BRL' }),
  usdc_amount: usdcAmount.meta({ description: 'What they asked for in USDC' }),
  platform_fee: usdcAmount,
  expected: usdcAmount.meta({ description: "The merchant's share of `usdc_amount`" }),
}

/** What was paid, by the day of payment: surplus and money that settles nothing are in `attention`, not in the sums. */
export const summary = z
  .object({
    object: z.literal('summary'),
    timezone: z.string(),
    days: z.array(z.object({ date: civilDate, ...paidFigures })),
    total: z.object(paidFigures),
    open: z.object({ pending: z.int(), confirming: z.int(), underpaid: z.int() }),
    attention: z
      .object({ overpaid: z.int(), paid_late: z.int(), paid_after_cancel: z.int(), duplicate: z.int(), reorged: z.int() })
      .meta({ description: 'Orders by `exception`, a thousand in all at most' }),
  })
  .meta({ id: 'Summary' })
export type SummaryBody = z.infer<typeof summary>
