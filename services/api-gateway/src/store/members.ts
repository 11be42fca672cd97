import type { MailLanguage, MailTopic } from '@ponte/contracts'
import { type Database, outboxRows, type Statement, snakeCase } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { Invitation, Member } from '../merchant/member'
import { atNextVersion, type Merchant } from '../merchant/merchant'
import type { OwnerChange } from '../merchant/owner-change'
import type { PayoutChange } from '../merchant/payout-change'
import { ACCOUNT_ROWS, type Action, type Actor, accountChanged, accountRows, auditEntry } from './audit-log'
import { INSERT_INVITATION_MAILS } from './mails'
import { ownershipRecord, pendingPayoutRecord } from './merchants'
import type { MerchantStoreOptions } from './options'

/** A change of who belongs to a merchant, decided on its members at the merchant's version. */
export interface TeamChange {
  merchant: Merchant
  /** The merchant's waiting change afterwards. */
  pendingPayout: PayoutChange | null
  ownerChanges: readonly OwnerChange[]
  payoutHeldUntil: Date | null
  put?: Member
  removed?: Member
  /** Keys that end with the member who made them. */
  revokedKeys?: readonly { id: string }[]
  /** With its token, sealed by its id: it is in the mail alone. */
  invited?: Invitation & { tokenHash: Uint8Array; sealedToken: string }
  accepted?: Invitation
  revoked?: Invitation
  at: Date
}

// Raw SQL, because it commits with its audit row, and because the merchant's version decides between two owners who remove each other.
const CHANGE: Statement = {
  name: 'members-change',
  text: `
  WITH ${ACCOUNT_ROWS},
  letter_rows AS (${INSERT_INVITATION_MAILS}),
  team AS (UPDATE merchants SET version = CASE WHEN version = $version THEN version + 1 END,
      user_id = CASE WHEN user_id = ANY($removed_users::text[]) THEN NULL ELSE user_id END,
      pending_payout = $pending_payout::jsonb, pending_payout_activates_at = $pending_payout_activates_at::timestamptz,
      pending_network_payout = $pending_network_payout::jsonb, pending_network_payout_activates_at = $pending_network_payout_activates_at::timestamptz,
      owner_changes = $owner_changes::jsonb, owner_changes_activate_at = $owner_changes_activate_at::timestamptz,
      payout_held_until = $payout_held_until::timestamptz
    WHERE id = $merchant_id),
  revoked_keys AS (UPDATE named_keys SET revoked_at = coalesce(revoked_at, $at::timestamptz) WHERE id = ANY($revoked_keys::uuid[])),
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
  ON CONFLICT (id) DO UPDATE SET role = EXCLUDED.role,
    role_since = CASE WHEN members.role = EXCLUDED.role THEN members.role_since ELSE $at::timestamptz END`,
}

const SET_MAIL = `
  UPDATE members SET email = coalesce($2, email), mail_language = coalesce($3, mail_language), mail_topics = coalesce($4, mail_topics)
  WHERE id = $1`

const LISTED_MAX = 100
const OF_INVITATION = { omit: { tokenHash: true }, orderBy: { id: 'desc' } } as const

export function memberStore(database: Database, prisma: PrismaClient, options: MerchantStoreOptions) {
  const openInvitations = (merchantId: string, at: Date): Promise<Invitation[]> =>
    prisma.invitation.findMany({ ...OF_INVITATION, where: { merchantId, acceptedAt: null, revokedAt: null, expiresAt: { gt: at } } })
  return {
    /** The merchants of a user, oldest membership first: one that is created later is not in the place of one that they work for. */
    ofUser: (userId: string) =>
      prisma.member.findMany({
        where: { userId },
        include: { merchant: { select: { displayName: true, frozenAt: true } } },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      }),
    find: (merchantId: string, userId: string) => prisma.member.findUnique({ where: { merchantId_userId: { merchantId, userId } } }),
    list: (merchantId: string): Promise<Member[]> =>
      prisma.member.findMany({ where: { merchantId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] }),

    openInvitations,
    /** Every open one, and of the others the newest: what can still be accepted is seen, whatever came after it. */
    async invitations(merchantId: string, at: Date): Promise<Invitation[]> {
      const open = await openInvitations(merchantId, at)
      const others = { merchantId, id: { notIn: open.map(({ id }) => id) } }
      const rest = await prisma.invitation.findMany({ ...OF_INVITATION, where: others, take: Math.max(0, LISTED_MAX - open.length) })
      return [...open, ...rest].sort((a, b) => (a.id < b.id ? 1 : -1))
    },
    findInvitation: (merchantId: string, id: string): Promise<Invitation | null> =>
      prisma.invitation.findFirst({ where: { merchantId, id }, omit: { tokenHash: true } }),
    findByToken: (tokenHash: Uint8Array<ArrayBuffer>): Promise<Invitation | null> =>
      prisma.invitation.findUnique({ where: { tokenHash }, omit: { tokenHash: true } }),

    /** Fills in where mails to a member go, once a session of theirs shows it; an address that stands there stays. */
    async noteEmail(id: string, email: string): Promise<void> {
      await database.query('UPDATE members SET email = $2 WHERE id = $1 AND email IS NULL', [id, email])
    },
    /** Null stays as it is. */
    async setMail(id: string, email: string | null, language: MailLanguage | null, topics: readonly MailTopic[] | null): Promise<void> {
      await database.query(SET_MAIL, [id, email, language, topics?.join(',')])
    },

    /** Throws a stale error (`isStale`) when the merchant has moved on since it was read, before its members were. */
    async commit(change: TeamChange, action: Action, changed: string[], actor: Actor, target: string | null): Promise<void> {
      const { put, removed, revokedKeys = [], invited, accepted, revoked, at } = change
      const { pendingPayout, ownerChanges, payoutHeldUntil } = change
      const { merchant, event } = atNextVersion({ ...change.merchant, pendingPayout, ownerChanges, payoutHeldUntil })
      const { owner_changes, ...ownership } = ownershipRecord(merchant)
      const { pending_payout, pending_network_payout, ...waits } = pendingPayoutRecord(pendingPayout)
      const entry = auditEntry(merchant.id, actor, action, changed, at, { target })
      await database.commit({
        events: outboxRows([event, accountChanged(entry, merchant)], at),
        write: CHANGE,
        rows: {
          ...accountRows(entry, merchant, options),
          members: put ? [snakeCase(put)] : [],
          invitations: invited ? [snakeCase(invited)] : [],
          letters: invited && options.mails === true ? [letterRecord(invited)] : [],
        },
        values: {
          ...{ merchant_id: merchant.id, version: change.merchant.version, at },
          ...{ ...waits, pending_payout: pending_payout && JSON.stringify(pending_payout) },
          pending_network_payout: pending_network_payout && JSON.stringify(pending_network_payout),
          ...{ ...ownership, owner_changes: owner_changes && JSON.stringify(owner_changes) },
          revoked_keys: revokedKeys.map(({ id }) => id),
          ...{ removed: removed ? [removed.id] : [], removed_users: removed ? [removed.userId] : [] },
          ...{ accepted: accepted ? [accepted.id] : [], revoked: revoked ? [revoked.id] : [] },
        },
      })
      options.committed()
    },
  }
}

/** The mail has the id of its invitation. */
const letterRecord = ({
  id,
  merchantId,
  email,
  role,
  invitedBy,
  createdAt,
  expiresAt,
  sealedToken,
}: NonNullable<TeamChange['invited']>) => ({
  ...{ id, merchant_id: merchantId, address: email, created_at: createdAt },
  facts: { user_id: invitedBy, role, at: createdAt, expires_at: expiresAt, sealed_token: sealedToken },
})
