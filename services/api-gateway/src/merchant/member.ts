import { ApiError, type Permission, ROLE_PERMISSIONS, role as roleSchema } from '@ponte/contracts'

export interface Member {
  id: string
  merchantId: string
  userId: string
  email: string | null
  role: string
  createdAt: Date
}

export interface Invitation {
  id: string
  merchantId: string
  email: string
  role: string
  invitedBy: string
  createdAt: Date
  expiresAt: Date
  acceptedAt: Date | null
  revokedAt: Date | null
}

/** A role that this version does not know gives no right. */
export const permissionsOf = (role: string): readonly Permission[] => {
  const known = roleSchema.safeParse(role)
  return known.success ? ROLE_PERMISSIONS[known.data] : []
}

/** Whether a named key with these scopes lies within the role of who made it. */
export function mayMakeKey(role: string, scopes: readonly string[]): boolean {
  const permissions: readonly string[] = permissionsOf(role)
  return permissions.includes('keys:write') && scopes.every(scope => permissions.includes(scope))
}

/** The member that an invitation makes of a user. Throws `forbidden` or `invalid_state` when it does not. */
export function joined(
  invitation: Invitation,
  members: readonly Member[],
  user: { id: string; memberId: string; verifiedEmail: string | null; at: Date },
): Member {
  const { acceptedAt, revokedAt, expiresAt, merchantId, email, role, invitedBy } = invitation
  if (acceptedAt || revokedAt || expiresAt <= user.at)
    throw new ApiError('invalid_state', 'This invitation was used or revoked, or is older than seven days; ask for another one.')
  if (user.verifiedEmail?.toLowerCase() !== email.toLowerCase())
    throw new ApiError(
      'forbidden',
      'This invitation is for another e-mail address, or yours is not verified; log in with the one that was invited.',
    )
  const inviter = members.find(({ userId }) => userId === invitedBy)
  if (!inviter || !permissionsOf(inviter.role).includes('members:write'))
    throw new ApiError('invalid_state', 'Who sent this invitation may not invite any more; ask for another one.')
  if (members.some(({ userId }) => userId === user.id)) throw new ApiError('invalid_state', 'You belong to this merchant already.')
  return { id: user.memberId, merchantId, userId: user.id, email, role, createdAt: user.at }
}
