import { type Database, outboxRows, type Statement } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { Invitation, Member, Merchant } from '../merchant'
import { type Action, type Actor, accountChanged, auditEntry, auditRecordOf, INSERT_AUDIT_ROWS } from './audit-log'
import type { MerchantStoreOptions } from './merchants'

/** A change of who belongs to a merchant, decided on its members at the merchant's version. */
export interface TeamChange {
  merchant: Merchant
  put?: Member
  removed?: Member
  invited?: Invitation & { tokenHash: Uint8Array }
  accepted?: Invitation
  revoked?: Invitation
  at: Date
}

// Raw SQL, because it commits with its audit row, and because the merchant's version decides between two owners who remove each other.
const CHANGE: Statement = {
  name: 'members-change',
  text: `
  WITH audit_rows AS (${INSERT_AUDIT_ROWS}),
  team AS (UPDATE merchants SET version = CASE WHEN version = $version THEN version + 1 END,
      user_id = CASE WHEN user_id = ANY($removed_users::text[]) THEN NULL ELSE user_id END
    WHERE id = $merchant_id),
  removed AS (DELETE FROM members WHERE id = ANY($removed::uuid[])),
  decided AS (UPDATE invitations SET
      accepted_at = CASE WHEN id = ANY($accepted::uuid[]) THEN $at::timestamptz ELSE accepted_at END,
      revoked_at = CASE WHEN id = ANY($revoked::uuid[]) THEN coalesce(revoked_at, $at::timestamptz) ELSE revoked_at END
    WHERE id = ANY($accepted::uuid[]) OR id = ANY($revoked::uuid[])),
  invited AS (INSERT INTO invitations (id, merchant_id, token_hash, email, role, invited_by, created_at, expires_at)
    SELECT id, merchant_id, token_hash, email, role, invited_by, created_at, expires_at
    FROM json_populate_recordset(NULL::invitations, $invitations))
  INSERT INTO members (id, merchant_id, user_id, email, role, created_at)
  SELECT id, merchant_id, user_id, email, role, created_at FROM json_populate_recordset(NULL::members, $members)
  ON CONFLICT (id) DO UPDATE SET role = EXCLUDED.role`,
}

/** Who belongs to which merchant, and who is invited. */
export function memberStore(database: Database, prisma: PrismaClient, { committed }: MerchantStoreOptions) {
  return {
    /** The merchants of a user: first what they created, then what they joined, oldest first. */
    async ofUser(userId: string) {
      const rows = await prisma.member.findMany({
        where: { userId },
        include: { merchant: { select: { displayName: true, userId: true } } },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      })
      return rows.toSorted((a, b) => Number(b.merchant.userId === userId) - Number(a.merchant.userId === userId))
    },
    list: (merchantId: string): Promise<Member[]> =>
      prisma.member.findMany({ where: { merchantId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] }),

    invitations: (merchantId: string): Promise<Invitation[]> =>
      prisma.invitation.findMany({ where: { merchantId }, omit: { tokenHash: true }, orderBy: { id: 'desc' }, take: 100 }),
    findInvitation: (merchantId: string, id: string): Promise<Invitation | null> =>
      prisma.invitation.findFirst({ where: { merchantId, id }, omit: { tokenHash: true } }),
    findByToken: (tokenHash: Uint8Array<ArrayBuffer>): Promise<Invitation | null> =>
      prisma.invitation.findUnique({ where: { tokenHash }, omit: { tokenHash: true } }),

    /** Throws a stale error (`isStale`) when the merchant has moved on since it was read, before its members were. */
    async commit(change: TeamChange, action: Action, changed: string[], actor: Actor): Promise<void> {
      const { merchant, put, removed, invited, accepted, revoked, at } = change
      const entry = auditEntry(merchant.id, actor, action, changed, at)
      await database.commit({
        events: outboxRows([accountChanged(entry, merchant)], at),
        write: CHANGE,
        rows: {
          audit_log: [auditRecordOf(entry)],
          members: put ? [memberRecord(put)] : [],
          invitations: invited ? [invitationRecord(invited)] : [],
        },
        values: {
          ...{ merchant_id: merchant.id, version: merchant.version, at },
          ...{ removed: removed ? [removed.id] : [], removed_users: removed ? [removed.userId] : [] },
          ...{ accepted: accepted ? [accepted.id] : [], revoked: revoked ? [revoked.id] : [] },
        },
      })
      committed()
    },
  }
}

const memberRecord = ({ merchantId, userId, createdAt, ...member }: Member) => ({
  ...member,
  merchant_id: merchantId,
  user_id: userId,
  created_at: createdAt,
})

const invitationRecord = ({
  merchantId,
  tokenHash,
  invitedBy,
  createdAt,
  expiresAt,
  ...invitation
}: Invitation & { tokenHash: Uint8Array }) => ({
  ...{ id: invitation.id, email: invitation.email, role: invitation.role },
  merchant_id: merchantId,
  token_hash: Buffer.from(tokenHash),
  invited_by: invitedBy,
  created_at: createdAt,
  expires_at: expiresAt,
})
