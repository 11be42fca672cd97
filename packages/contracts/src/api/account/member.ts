import { z } from 'zod'
import { email, id, timestamp } from '../../fields'
import { PERMISSIONS, type Permission } from './access'

export const ROLES = ['owner', 'admin', 'finance', 'support', 'developer', 'viewer'] as const
export const role = z.enum(ROLES).meta({ description: 'What a member may do' })
export type Role = z.infer<typeof role>

const READS: readonly Permission[] = [
  'orders:read',
  'subscriptions:read',
  'events:read',
  'deliveries:read',
  'merchant:read',
  'members:read',
]
const SELLS: readonly Permission[] = ['orders:write', 'subscriptions:write']

/** The whole of who may do what. A role that is not here may do nothing. */
export const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  owner: PERMISSIONS,
  admin: PERMISSIONS.filter(permission => permission !== 'payout:write' && permission !== 'members:write'),
  finance: [...READS, ...SELLS, 'refunds:write', 'audit:read'],
  support: [...READS, ...SELLS],
  developer: [
    ...READS,
    'deliveries:write',
    'endpoints:read',
    'endpoints:write',
    'merchant:write',
    'secrets:write',
    'keys:write',
    'audit:read',
  ],
  viewer: READS,
}

/** Names the merchant that a session's request is about, for users who belong to several. */
export const MERCHANT_HEADER = 'Ponte-Merchant'

/** One of the merchants that a user belongs to. */
export const membership = z
  .object({
    object: z.literal('membership'),
    merchant_id: id,
    display_name: z.string(),
    role,
    permissions: z.array(z.enum(PERMISSIONS)).meta({ description: 'What your role allows' }),
  })
  .meta({ description: 'A merchant that you belong to' })
export type MembershipBody = z.infer<typeof membership>

export const member = z.object({
  object: z.literal('member'),
  id,
  user_id: z.string().meta({ description: '`sub` of the user' }),
  email: z.string().nullable().meta({ description: 'By which they were invited' }),
  role,
  created_at: timestamp,
})
export type MemberBody = z.infer<typeof member>

export const updateMember = z.strictObject({ role })

export const memberKeysQuery = z.strictObject({ keep_api_keys: z.enum(['true', 'false'], 'must be true or false').optional() })

const revokedKeys = { revoked_api_keys: z.array(id).meta({ description: 'Named keys that the member made' }) }

export const updatedMember = member.extend(revokedKeys)

export const deletedMember = z.object({ object: z.literal('member'), id, deleted: z.literal(true), ...revokedKeys })

export const createInvitation = z.strictObject({ email, role })

export const invitation = z.object({
  object: z.literal('invitation'),
  id,
  email: z.string(),
  role,
  invited_by: z.string(),
  created_at: timestamp,
  expires_at: timestamp,
  accepted_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
})
export type InvitationBody = z.infer<typeof invitation>

const invitationToken = z
  .string()
  .regex(/^inv_[0-9a-f]{64}$/, 'must be the token of an invitation')
  .meta({ description: 'Hand it to the colleague; it works once, for seven days', example: `inv_${'0123456789abcdef'.repeat(4)}` })
export const invitationWithToken = invitation.extend({ token: invitationToken })

export const acceptInvitation = z.strictObject({ token: invitationToken })
