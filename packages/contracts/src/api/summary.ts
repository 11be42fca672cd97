import { z } from 'zod'
import { timestamp } from '../fields'
import { signedBrl, signedUsdc } from './entry'
import { timezone } from './subscription/subscription'

const civilDate = z.iso
  .date()
  .refine(date => date >= '1970-01-01' && date <= '2999-12-31', 'must lie between 1970 and 2999')
  .meta({ description: 'A civil date, from 1970 to 2999', example: '2026-11-20' })
const PERIODS_MAX = 92
const DAY_MS = 86_400_000
const DAYS = { day: 1, week: 7, month: 31 }

/** Query of `GET /api/v1/summary`: civil days of a time zone, the last one included. */
export const summaryQuery = z
  .strictObject({
    from: civilDate,
    to: civilDate,
    timezone,
    by: z
      .enum(['day', 'week', 'month'])
      .default('day')
      .meta({ description: 'Weeks begin on Monday; the first and the last period end with the range' }),
  })
  .superRefine(({ from, to, by }, context) => {
    const days = (Date.parse(to) - Date.parse(from)) / DAY_MS
    const most = PERIODS_MAX * DAYS[by]
    if (days < 0 || days >= most)
      context.addIssue({ code: 'custom', path: ['to'], message: `must lie after from, by less than ${most} days` })
  })
export type SummaryQuery = z.infer<typeof summaryQuery>

/** Sums of entries: `gross = platform_fee + settled + waiting`, to the last unit. */
const figures = {
  payments: z.int().meta({ description: 'Payments that came for orders' }),
  brl_amount: signedBrl.meta({ description: 'What came for orders, at their quotes' }),
  gross: signedUsdc.meta({ description: 'All that came: for orders, for none, and directly to the payout address' }),
  platform_fee: signedUsdc,
  settled: signedUsdc.meta({ description: 'What reached the payout address' }),
  waiting: signedUsdc.meta({ description: 'What came and has not been moved on yet; of a period, by how much that grew' }),
  unmatched: signedUsdc.meta({ description: 'What of `gross` came for no order' }),
  returned: signedUsdc.meta({ description: 'What went back by refunds, from the payout address; no part of the other figures' }),
  given_away: signedUsdc.meta({
    description: 'What was missing of orders that you accepted, or that your tolerance took; no part of `gross`',
  }),
}

/** Sums of the ledger, period by period, and the state of orders now. */
export const summary = z
  .object({
    object: z.literal('summary'),
    timezone: z.string(),
    by: z.enum(['day', 'week', 'month']),
    periods: z.array(z.object({ date: civilDate, ...figures })).meta({ description: 'Every period, by its first day' }),
    opening: z.object(figures).meta({ description: 'All before the first period' }),
    total: z.object(figures).meta({ description: 'All periods' }),
    closing: z.object(figures).meta({ description: 'All up to the end of the last period' }),
    closed_through: timestamp
      .nullable()
      .meta({ description: 'Months of São Paulo up to here are closed: their sums do not change any more' }),
    to_return: signedUsdc.meta({
      description:
        'What the attention list has left over as of now: surplus, duplicates, late money and what came for no order, while it is not handled',
    }),
    uncounted: z.array(z.object({ chain_id: z.int(), address: z.string(), from_block: z.int() })).meta({
      description: 'Payout addresses to which so much comes that plain transfers to them are in no figure from this block on',
    }),
    open: z.object({ pending: z.int(), confirming: z.int(), underpaid: z.int() }),
    attention: z
      .object({ overpaid: z.int(), paid_late: z.int(), paid_after_cancel: z.int(), duplicate: z.int(), reorged: z.int() })
      .meta({ description: 'Orders by `exception`, a thousand in all at most' }),
  })
  .meta({ id: 'Summary' })
export type SummaryBody = z.infer<typeof summary>
export type SummaryFigures = SummaryBody['total']
