import { z } from 'zod'
import { id, timestamp } from '../fields'
import { compactData, paidData, underpaidData, webhookType } from '../webhook'
import { pageQuery } from './list'

/** What happened, as it is told by webhook; kept for 30 days, so that a merchant can pull what was pushed. */
export const eventBody = z
  .object({
    object: z.literal('event'),
    id,
    type: webhookType,
    data: z.union([underpaidData, paidData, compactData]),
    created_at: timestamp,
  })
  .meta({ id: 'Event' })
export type EventBody = z.infer<typeof eventBody>

/** Query of `GET /api/v1/events`. */
export const listEvents = z
  .strictObject({ ...pageQuery, type: webhookType.optional(), created_gte: timestamp.optional(), created_lt: timestamp.optional() })
  .refine(query => query.starting_after === undefined || query.ending_before === undefined, {
    path: ['ending_before'],
    message: 'send either starting_after or ending_before, not both',
  })
export type ListEvents = z.infer<typeof listEvents>
