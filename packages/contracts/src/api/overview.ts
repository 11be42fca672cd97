import { z } from 'zod'
import { deliveryOverview } from './delivery'
import { order } from './order'

const truncated = z.boolean().meta({ description: 'There are more than were looked at: the numbers are of the newest hundred' })

/** The dashboard's first page: `GET /api/v1/merchants/me/overview`. A part whose owner does not answer at the moment is null. */
export const overview = z
  .object({
    object: z.literal('overview'),
    orders_24h: z
      .object({
        created: z.int(),
        open: z.int(),
        paid: z.int(),
        truncated,
      })
      .nullable(),
    latest_orders: z.array(order).nullable(),
    subscriptions: z.object({ active: z.int(), past_due: z.int(), truncated }).nullable(),
    deliveries: deliveryOverview.nullable(),
  })
  .meta({ id: 'Overview' })
export type OverviewBody = z.infer<typeof overview>
