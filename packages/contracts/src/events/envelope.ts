import { z } from 'zod'
import { id, timestamp } from '../fields'

/** Envelope of every event. `trace` is a W3C traceparent, so that one payment can be followed through all services. */
export const envelope = z.object({
  id,
  type: z.string(),
  occurred_at: timestamp,
  data: z.unknown(),
  trace: z.string().nullable(),
})
