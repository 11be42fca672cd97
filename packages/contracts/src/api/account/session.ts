import { z } from 'zod'
import { id, timestamp } from '../../fields'

export const session = z
  .object({
    object: z.literal('session'),
    id,
    is_current: z.boolean().meta({ description: 'The one that asks' }),
    started_at: timestamp.meta({ description: 'When the user logged in, or else when it was first seen' }),
    last_seen_at: timestamp.meta({ description: 'To the minute' }),
    user_agent: z.string().nullable().meta({ description: 'What its program calls itself' }),
    network: z.string().meta({ description: 'Where its last request came from: a /24, or a /48 of IPv6', example: '203.0.113.0/24' }),
  })
  .meta({ id: 'Session' })
export type SessionBody = z.infer<typeof session>

export const endedSession = z.object({ object: z.literal('session'), id, ended: z.literal(true) })
export const endedSessions = z.object({ object: z.literal('ended_sessions'), count: z.int() })
export type EndedSessionsBody = z.infer<typeof endedSessions>
