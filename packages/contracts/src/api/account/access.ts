import { z } from 'zod'
import { id, text, timestamp } from '../../fields'
import { apiKey } from '../merchant'

/** Rights that a named API key may have. Money that leaves, keys and people are for users alone. */
export const KEY_SCOPES = [
  'orders:read',
  'orders:write',
  'refunds:write',
  'subscriptions:read',
  'subscriptions:write',
  'events:read',
  'deliveries:read',
  'deliveries:write',
  'endpoints:read',
  'endpoints:write',
  'merchant:read',
  'audit:read',
] as const

/** Needed by a request: each route names one. */
export const PERMISSIONS = [
  ...KEY_SCOPES,
  'merchant:write',
  'secrets:write',
  'payout:write',
  'keys:write',
  'members:read',
  'members:write',
] as const
export type Permission = (typeof PERMISSIONS)[number]

export const SPECIFIED_KEY_SCOPES: readonly Permission[] = [
  'orders:read',
  'orders:write',
  'refunds:write',
  'subscriptions:read',
  'subscriptions:write',
  'events:read',
]

export const keyScope = z.enum(KEY_SCOPES).meta({ description: 'What the key may do' })

export const createApiKey = z.strictObject({
  name: text(80).meta({ description: 'What it is for', example: 'ERP' }),
  scopes: z
    .array(keyScope)
    .min(1, 'must name at least one scope')
    .refine(scopes => new Set(scopes).size === scopes.length, 'must not name a scope twice')
    .meta({ example: ['orders:read', 'deliveries:write'] }),
  expires_at: timestamp.nullish(),
})
export type CreateApiKey = z.infer<typeof createApiKey>

export const namedKey = z
  .object({
    object: z.literal('api_key'),
    id,
    name: z.string(),
    prefix: z.string().meta({ description: 'How the key begins', example: 'sk_live_0123' }),
    scopes: z.array(keyScope),
    created_at: timestamp,
    created_by: z.string().meta({ description: '`sub` of the user who made it' }),
    expires_at: timestamp.nullable(),
    last_used_at: timestamp.nullable().meta({ description: 'To the minute' }),
    revoked_at: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' })
export type NamedKeyBody = z.infer<typeof namedKey>

/** Its answer: the one time that the key is shown. */
export const namedKeyWithSecret = namedKey.extend({
  api_key: apiKey.meta({ description: 'Shown once; only its hash is kept', example: `sk_live_${'0123456789abcdef'.repeat(4)}` }),
})
