import { type InvitationBody, type MemberBody, type MembershipBody, role as roleSchema } from '@ponte/contracts'
import { type Invitation, type Member, permissionsOf } from '../merchant/member'

/** A role that this version does not know is shown as the one that may do least. */
export const roleOf = (role: string) => roleSchema.catch('viewer').parse(role)

export const memberBody = (member: Member): MemberBody => ({
  ...{ object: 'member', id: member.id, user_id: member.userId, email: member.email, role: roleOf(member.role) },
  created_at: member.createdAt.toISOString(),
})

export const membershipBody = (of: { merchantId: string; role: string; merchant: { displayName: string } }): MembershipBody => ({
  ...{ object: 'membership', merchant_id: of.merchantId, display_name: of.merchant.displayName, role: roleOf(of.role) },
  permissions: [...permissionsOf(of.role)],
})

export const invitationBody = (invitation: Invitation): InvitationBody => ({
  ...{ object: 'invitation', id: invitation.id, email: invitation.email, role: roleOf(invitation.role), invited_by: invitation.invitedBy },
  created_at: invitation.createdAt.toISOString(),
  expires_at: invitation.expiresAt.toISOString(),
  accepted_at: invitation.acceptedAt?.toISOString() ?? null,
  revoked_at: invitation.revokedAt?.toISOString() ?? null,
})
