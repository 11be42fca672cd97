import { z } from 'zod'
import { refuseStaticHeaders } from '../destination/static-headers'
import { id, text, timestamp } from '../fields'
import { OPT_IN_EVENTS, SPECIFIED_EVENTS } from '../webhook'
import { webhookUrl } from './merchant'

/** A merchant's own `webhook_url` is their default endpoint; this many others may stand beside it. */
export const ENDPOINTS_MAX = 10
export const IN_FLIGHT_MAX = 128

export const endpointFormat = z
  .enum(['ponte', 'standard'])
  .meta({ description: '`ponte`: as the webhook_url has it. `standard`: the headers of Standard Webhooks besides' })
export type EndpointFormat = z.infer<typeof endpointFormat>

const chosenEvents = z
  .array(z.enum(['*', ...SPECIFIED_EVENTS, ...OPT_IN_EVENTS]))
  .min(1, 'must name at least one kind')
  .refine(events => new Set(events).size === events.length, 'must not name a kind twice')
  .refine(events => events.length === 1 || !events.includes('*'), 'must be "*" alone or kinds without it')
  .meta({ description: '`["*"]` is every kind, also those to come', example: ['order.paid', 'order.settled'] })

// A record drops the key `__proto__` without a word, so the headers are judged before they become one.
const staticHeaders = z
  .preprocess(
    (value, context) => {
      const refusal = typeof value === 'object' && value !== null && !Array.isArray(value) ? refuseStaticHeaders({ ...value }) : null
      if (refusal !== null) context.addIssue({ code: 'custom', message: refusal })
      if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__'))
        context.addIssue({ code: 'custom', message: 'must not have a key __proto__' })
      return value
    },
    z.record(z.string(), z.string()),
  )
  .meta({ description: 'Sent with each delivery, and never shown again', example: { Authorization: 'Bearer 42' } })

const maxInFlight = z.int().min(1).max(IN_FLIGHT_MAX).meta({ description: 'At most this many requests at once', example: 4 })

export const createEndpoint = z.strictObject({
  url: webhookUrl,
  events: chosenEvents,
  format: endpointFormat.default('ponte'),
  description: text(200).nullish(),
  headers: staticHeaders.optional(),
  max_in_flight: maxInFlight.nullish(),
})
export type CreateEndpoint = z.infer<typeof createEndpoint>

/** Body of `PATCH …/webhook-endpoints/:id`; absent fields stay, `null` clears. `headers` replaces all of them. */
export const updateEndpoint = z.strictObject({
  url: webhookUrl.optional(),
  events: chosenEvents.optional(),
  format: endpointFormat.optional(),
  description: text(200).nullable().optional(),
  headers: staticHeaders.optional(),
  max_in_flight: maxInFlight.nullable().optional(),
  paused: z.boolean().optional(),
})
export type UpdateEndpoint = z.infer<typeof updateEndpoint>

export const webhookEndpoint = z
  .object({
    object: z.literal('webhook_endpoint'),
    id,
    is_default: z.boolean().meta({ description: 'Your webhook_url: it is set with your merchant, and its id is your own' }),
    url: webhookUrl.nullable(),
    description: z.string().nullable(),
    events: z.array(z.string()),
    format: endpointFormat,
    header_names: z.array(z.string()),
    max_in_flight: z.int().nullable(),
    paused: z.boolean().meta({ description: 'While true, deliveries wait' }),
    secret: z
      .string()
      .nullable()
      .meta({ description: "Null without endpoints:write; the default endpoint has your merchant's webhook_secret" }),
    pending_secret: z.string().nullable(),
    pending_secret_activates_at: timestamp.nullable(),
    failing_since: timestamp.nullable().meta({ description: 'The first failed attempt since the last that was delivered' }),
    dead: z.int().meta({ description: 'Deliveries of the last seven days that are dead and were not replayed, counted up to 1000' }),
    created_at: timestamp.nullable(),
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'WebhookEndpoint' })
export type WebhookEndpointBody = z.infer<typeof webhookEndpoint>

export const deletedEndpoint = z.object({ object: z.literal('webhook_endpoint'), id, deleted: z.literal(true) })
export type DeletedEndpointBody = z.infer<typeof deletedEndpoint>
