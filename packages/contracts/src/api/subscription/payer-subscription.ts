import { z } from 'zod'
import { brlAmount, description, timestamp } from '../../fields'
import { interval, subscription, subscriptionStatus, timezone } from './subscription'

export const payerSubscription = z
  .object({
    object: z.literal('payer_subscription'),
    status: subscriptionStatus,
    merchant_name: z.string(),
    description: description.nullable(),
    brl_amount: brlAmount,
    interval: interval.nullable(),
    interval_count: subscription.shape.interval_count,
    timezone,
    paused: z.boolean(),
    next_charge_at: timestamp.nullable().meta({ description: 'When the next payment is asked for by itself' }),
    ends_at: timestamp.nullable().meta({ description: 'When it ends or ended; null while that is open' }),
    due: z
      .object({
        brl_amount: brlAmount,
        checkout_url: z.string().nullable().meta({ description: 'Where it is paid; null while no order is open for it' }),
        can_be_asked: z.boolean().meta({ description: 'The payer may have an order opened for it' }),
      })
      .nullable()
      .meta({ description: 'What is to be paid now; null for nothing' }),
    charges: z
      .array(
        z.object({
          status: z.enum(['open', 'paid', 'unpaid']),
          brl_amount: brlAmount,
          issued_at: timestamp.nullable(),
          paid_at: timestamp.nullable(),
          receipt_url: z.string().nullable(),
        }),
      )
      .meta({ description: 'The latest 24 periods, newest first' }),
  })
  .meta({ id: 'PayerSubscription' })
export type PayerSubscriptionBody = z.infer<typeof payerSubscription>
