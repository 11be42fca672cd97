import { z } from 'zod'
import { brlAmount, brlAmountInput, description, externalRef, id, metadata, metadataChange, timestamp } from '../../fields'
import { livemode } from '../../mode'
import { customer, customerInput } from '../customer'
import { isOneWay, notOneWay, pageQuery } from '../list'
import { ORDER_EXPIRES_IN_MAX_S, ORDER_EXPIRES_IN_MIN_S } from '../order'

export const subscriptionStatus = z.enum(['active', 'past_due', 'cancelled', 'expired'])
export const interval = z.enum(['day', 'week', 'month', 'year']).meta({ description: 'Absent: you charge whenever you wish' })

export const TIMEZONE_DEFAULT = 'America/Sao_Paulo'

const intervalCount = z.int().min(1).max(366).meta({ description: 'Intervals per period', example: 1 })
const maxPeriods = z.int().min(1).max(100_000).meta({ description: 'Charge count at which the subscription expires', example: 12 })
const orderExpiresIn = z
  .int()
  .min(ORDER_EXPIRES_IN_MIN_S)
  .max(ORDER_EXPIRES_IN_MAX_S)
  .meta({ description: 'Seconds until an order of this subscription expires; never beyond its period', example: 86_400 })

const maxPeriodsCounts = z
  .enum(['payments', 'periods'])
  .meta({ description: 'What `max_periods` counts: charges that were paid, or periods, paid or not' })
const trialPeriods = z.int().min(0).max(1_000).meta({ description: 'So many periods at the beginning ask for nothing', example: 1 })

const dunning = {
  upcoming_notice: z
    .int()
    .min(0)
    .max(31_536_000)
    .meta({ description: 'Seconds before a charge at which `subscription.upcoming` is sent; 0 for never', example: 259_200 }),
  retry_after: z
    .array(z.int().min(3_600).max(31_536_000))
    .max(10)
    .refine(list => list.every((seconds, n) => n === 0 || seconds > (list[n - 1] ?? 0)), 'must grow')
    .meta({
      description: 'Seconds after a period`s first order at which it is issued again while it expires unpaid',
      example: [86_400, 259_200],
    }),
  unpaid_periods_max: z
    .int()
    .min(1)
    .max(1_000)
    .meta({ description: 'Unpaid periods in a row after which `when_unpaid` is done', example: 3 }),
  when_unpaid: z.enum(['leave', 'pause', 'cancel']).meta({ description: 'What becomes of a plan that is not paid' }),
}

/** A name of the IANA database, not an offset: an offset does not know daylight saving. */
export const timezone = z
  .string()
  .max(64)
  .regex(/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/, 'must be a name of the IANA time zone database')
  .refine(isKnownZone, 'must be a name of the IANA time zone database')
  .meta({ example: TIMEZONE_DEFAULT })

function isKnownZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/**
 * Body of `POST /api/v1/subscriptions` (docs/interface.md#orders-and-subscriptions). `expires_at` must lie ahead and after `start_at`; `start_at` may lie up
 * to a year back, which sets the calendar and bills nothing of what is over. The route judges both by its clock.
 */
export const createSubscription = z
  .strictObject({
    brl_amount: brlAmountInput,
    interval: interval.nullish(),
    interval_count: intervalCount.nullish(),
    max_periods: maxPeriods.nullish(),
    max_periods_counts: maxPeriodsCounts.optional(),
    trial_periods: trialPeriods.optional(),
    start_at: timestamp.nullish(),
    expires_at: timestamp.nullish(),
    timezone: timezone.nullish(),
    order_expires_in: orderExpiresIn.nullish(),
    retry_after: dunning.retry_after.optional(),
    unpaid_periods_max: dunning.unpaid_periods_max.optional(),
    when_unpaid: dunning.when_unpaid.optional(),
    upcoming_notice: dunning.upcoming_notice.optional(),
    external_ref: externalRef.nullish(),
    description: description.nullish(),
    metadata: metadata.optional(),
    customer: customerInput.nullish().meta({ description: 'Each order that is issued has it, as it is at that moment' }),
  })
  .refine(body => !body.interval_count || body.interval, { path: ['interval_count'], message: 'needs an interval' })
  .refine(body => !body.trial_periods || body.interval, { path: ['trial_periods'], message: 'needs an interval' })
  .refine(body => body.max_periods_counts !== 'periods' || body.interval, { path: ['max_periods_counts'], message: 'needs an interval' })
export type CreateSubscription = z.infer<typeof createSubscription>

/** Body of `PATCH /api/v1/subscriptions/:id`; absent fields stay, `null` clears. What touches charging applies from the next period, unless `apply` is `now`. */
export const updateSubscription = z.strictObject({
  brl_amount: brlAmountInput.optional(),
  interval: interval.optional(),
  interval_count: intervalCount.optional(),
  timezone: timezone.optional(),
  max_periods: maxPeriods.nullable().optional(),
  expires_at: timestamp.nullable().optional(),
  order_expires_in: orderExpiresIn.optional(),
  retry_after: dunning.retry_after.optional(),
  unpaid_periods_max: dunning.unpaid_periods_max.optional(),
  when_unpaid: dunning.when_unpaid.optional(),
  upcoming_notice: dunning.upcoming_notice.optional(),
  apply: z
    .enum(['now', 'next_period'])
    .meta({
      description:
        'From when amount, `external_ref`, `description` and `metadata` hold. `now`: the open order of an unpaid period is replaced once no money counts for it',
    })
    .optional(),
  cancel_at_period_end: z
    .boolean()
    .meta({ description: 'true: it is cancelled when the current period ends; false: it goes on after all' })
    .optional(),
  paused: z
    .boolean()
    .meta({ description: 'true: nothing is issued by itself from now on; false: what is due now is issued, and periods go on' })
    .optional(),
  external_ref: externalRef.nullable().optional(),
  description: description.nullable().optional(),
  metadata: metadataChange.optional(),
  customer: customerInput
    .nullable()
    .optional()
    .meta({ description: 'Of the orders that are issued from now on; null erases it. Sent alone, it is taken in any state' }),
})
export type UpdateSubscription = z.infer<typeof updateSubscription>

export const subscriptionCharge = z.object({
  period_index: z.int(),
  status: z.enum(['open', 'paid', 'skipped']),
  brl_amount: brlAmount,
  issued_at: timestamp.nullable(),
  paid_at: timestamp.nullable(),
  received_brl_amount: brlAmount
    .optional()
    .meta({ description: 'What is confirmed for orders that were not paid: too little, or too late. It is not asked for again' }),
  orders: z.array(
    z.object({
      id,
      status: z.enum(['open', 'paid', 'duplicate', 'expired', 'cancelled']).meta({
        description: '`duplicate`: it was paid after another order of the same period had been',
      }),
      issued_at: timestamp,
      brl_amount: brlAmount.optional(),
      reason: z.string().nullable().optional().meta({ description: 'Why it is not opened yet, or never was; null otherwise' }),
    }),
  ),
})
export type SubscriptionChargeBody = z.infer<typeof subscriptionCharge>

export const subscription = z
  .object({
    object: z.literal('subscription'),
    id,
    livemode: livemode.optional(),
    status: subscriptionStatus,
    external_ref: externalRef.nullable(),
    description: description.nullable(),
    metadata,
    brl_amount: brlAmount,
    interval: interval.nullable(),
    interval_count: intervalCount.nullable(),
    timezone,
    start_at: timestamp,
    current_period_index: z.int().nullable().meta({ description: 'Null before the first period' }),
    next_charge_at: timestamp.nullable().meta({ description: 'When the next order is issued by itself' }),
    charges_done: z.int(),
    max_periods: maxPeriods.nullable(),
    expires_at: timestamp.nullable(),
    ends_at: timestamp.nullable().optional().meta({
      description:
        'When it ends by itself, whatever is paid until then: `expires_at`, the last of the `max_periods` that count periods, or `cancel_at`, whichever comes first; null for never',
    }),
    order_expires_in: orderExpiresIn,
    open_order_id: id.nullable(),
    retry_after: dunning.retry_after.optional(),
    unpaid_periods_max: dunning.unpaid_periods_max.optional(),
    when_unpaid: dunning.when_unpaid.optional(),
    upcoming_notice: dunning.upcoming_notice.optional(),
    max_periods_counts: maxPeriodsCounts.optional(),
    trial_periods: trialPeriods.optional(),
    trial_ends_at: timestamp
      .nullable()
      .optional()
      .meta({ description: 'When the first period that asks for money begins; null without a trial' }),
    cancel_at_period_end: z.boolean().optional(),
    cancel_at: timestamp.nullable().optional().meta({ description: 'When it is cancelled by itself; null for never' }),
    waiting_for: z.string().nullable().optional().meta({
      description: 'What the current period`s order waits for, such as `payout_address_required` or `rate_unavailable`; null for nothing',
    }),
    paused_at: timestamp.nullable().optional().meta({ description: 'Since when nothing is issued by itself; null while it is not paused' }),
    pause_reason: z.enum(['merchant', 'unpaid']).nullable().optional().meta({
      description: 'Who paused it: `merchant`, or `unpaid` for `when_unpaid` after too many unpaid periods, which a payment undoes',
    }),
    charges: z.array(subscriptionCharge).optional().meta({ description: 'The latest 24 periods, newest first; of one subscription only' }),
    created_at: timestamp,
    cancelled_at: timestamp.nullable(),
    expired_at: timestamp.nullable(),
    payer_url: z.string().nullable().optional().meta({
      description: 'The page of its payer: what is due, receipts, what comes next. It stays the same; anyone who has the link can open it',
    }),
    customer: customer.optional().meta({ description: 'Only where you named one' }),
  })
  .meta({ id: 'Subscription' })
export type SubscriptionBody = z.infer<typeof subscription>

/** Answer 202 of `POST /api/v1/subscriptions/:id/charge`: the order is on its way and its link already works when it arrives. */
export const pendingCharge = z
  .object({ object: z.literal('charge'), subscription_id: id, order_id: id, checkout_url: z.string() })
  .meta({ id: 'PendingCharge' })
export type PendingChargeBody = z.infer<typeof pendingCharge>

export const periodIndexInPath = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number)

const filters = {
  status: subscriptionStatus.optional(),
  external_ref: externalRef.optional(),
  created_gte: timestamp.optional(),
  created_lt: timestamp.optional(),
}

export const listSubscriptions = z.strictObject({ ...pageQuery, ...filters }).refine(isOneWay, notOneWay)
export type ListSubscriptions = z.infer<typeof listSubscriptions>

export const exportSubscriptions = z.strictObject(filters)
