import { ApiError, type Permission, ROLE_PERMISSIONS, type Role, role as roleSchema } from '@ponte/contracts'

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

/** Gives a member another role. Throws `not_found`, or `invalid_state` when no owner would be left. */
export function withRole(members: readonly Member[], id: string, role: Role): Member {
  const member = found(members, id)
  if (role !== 'owner') keepOwner(members, member)
  return { ...member, role }
}

/** The member to remove. Throws `not_found`, or `invalid_state` when no owner would be left. */
export function withoutMember(members: readonly Member[], id: string): Member {
  const member = found(members, id)
  keepOwner(members, member)
  return member
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

function found(members: readonly Member[], id: string): Member {
  const member = members.find(other => other.id === id)
  if (!member) throw new ApiError('not_found', 'Your merchant has no such member.')
  return member
}

function keepOwner(members: readonly Member[], leaving: Member): void {
  if (leaving.role === 'owner' && !members.some(({ id, role }) => role === 'owner' && id !== leaving.id))
    throw new ApiError('invalid_state', 'A merchant needs an owner; make another member one first.')
}
