import { z } from 'zod'
import { id, timestamp } from '../fields'
import { livemode } from '../mode'
import {
  acceptedData,
  accountData,
  attachedData,
  compactData,
  issuedData,
  paidData,
  pastDueData,
  refundConfirmedData,
  refundData,
  refundFailedData,
  settledData,
  testData,
  underpaidData,
  unmatchedData,
  upcomingData,
  webhookType,
} from '../webhook'
import { cursor, cursorInQuery } from './cursor'
import { isOneWay, notOneWay, pageQuery, searchedListOf } from './list'

/** An event as webhooks carry it; kept for 30 days, so that a merchant can pull what was pushed. */
export const eventBody = z
  .object({
    object: z.literal('event'),
    id,
    livemode: livemode.optional(),
    type: webhookType,
    data: z.union([
      settledData,
      acceptedData,
      underpaidData,
      paidData,
      attachedData,
      unmatchedData,
      issuedData,
      upcomingData,
      pastDueData,
      accountData,
      refundConfirmedData,
      refundFailedData,
      refundData,
      testData,
      compactData,
    ]),
    created_at: timestamp,
    sequence: z.int().meta({ description: 'Counts your events without gaps, in the order in which they can be pulled' }),
    cursor: cursor.meta({ description: 'To go on after this event: `after` takes it' }),
    body: z
      .string()
      .optional()
      .meta({ description: 'With `include=body`: what webhooks send, byte for byte', example: '{"type":"order.expired","data":{}}' }),
  })
  .meta({ id: 'Event' })
export type EventBody = z.infer<typeof eventBody>

/** Answer of `GET /api/v1/events`; with `after`, `next_cursor` is where the next request begins, also when there was nothing. */
export const eventList = searchedListOf(eventBody).extend({
  next_cursor: cursor.optional(),
  next_after: z.int().optional().meta({ description: 'The sequence of `next_cursor`' }),
})
export type EventListBody = z.infer<typeof eventList>

const wholeNumber = (max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number up to ${max}`)
    .transform(Number)
    .refine(n => n <= max, `must be a whole number up to ${max}`)

/** Seconds that `wait` may ask for. The gateway reads it by this too, so that no spelling of it waits where prompt answers are expected. */
export const waitInQuery = wholeNumber(20)

const include = z.enum(['body']).optional()

export const eventQuery = z.strictObject({ include })

/** Query of `GET /api/v1/events`: newest first page by page, or with `after` oldest first without gaps. */
export const listEvents = z
  .strictObject({
    ...pageQuery,
    type: webhookType.optional(),
    order_id: id.optional().meta({ description: 'Events that speak of this order' }),
    subscription_id: id.optional().meta({ description: 'Events that speak of this subscription' }),
    created_gte: timestamp.optional(),
    created_lt: timestamp.optional(),
    after: cursorInQuery.optional(),
    wait: waitInQuery.optional(),
    include,
  })
  .refine(isOneWay, notOneWay)
  .refine(
    query =>
      query.after === undefined ||
      !(query.starting_after ?? query.ending_before ?? query.created_gte ?? query.created_lt ?? query.order_id ?? query.subscription_id),
    {
      path: ['after'],
      message: 'cannot be sent with order_id, subscription_id or the other ways of paging',
    },
  )
  .refine(query => query.wait === undefined || query.after !== undefined, { path: ['wait'], message: 'goes together with after' })
export type ListEvents = z.infer<typeof listEvents>
