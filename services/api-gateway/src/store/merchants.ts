import { ApiError, payoutAddresses, role } from '@ponte/contracts'
import { type Database, insertRows, isUniqueViolation, outboxRows, type Statement, snakeCase, updateVersioned } from '@ponte/service-kit'
import { z } from 'zod'
import type { Merchant as MerchantRow, PrismaClient } from '../generated/client'
import { type Change, type Merchant, PLAIN_BRANDING } from '../merchant/merchant'
import type { Ownership } from '../merchant/owner-change'
import type { PayoutChange, PayoutProof } from '../merchant/payout-change'
import { ACCOUNT_ROWS, type Action, type Actor, accountChanged, accountRows, auditEntry } from './audit-log'
import type { MerchantStoreOptions } from './options'

const CHANGING_COLUMNS = [
  'display_name',
  'webhook_url',
  'payment_tolerance_units',
  'refund_approval_above_units',
  'chain_ids',
  'payout_address',
  'payout_addresses',
  'payout_proof',
  'payout_is_contract',
  'cleared_payout_address',
  'pending_payout',
  'pending_payout_activates_at',
  'pending_network_payout',
  'pending_network_payout_activates_at',
  'owner_changes',
  'owner_changes_activate_at',
  'payout_held_until',
  'frozen_at',
  'sealed_webhook_secret',
  'sealed_pending_secret',
  'pending_activates_at',
  'branding',
  'updated_at',
]
const MERCHANT_COLUMNS = ['id', 'user_id', 'version', 'created_at', ...CHANGING_COLUMNS]

const DUE_MAX = 100

// Raw SQL, because it commits with its event and its audit row.
const INSERT: Statement = {
  name: 'merchant-insert',
  text: `
  WITH ${ACCOUNT_ROWS},
  key_rows AS (${insertRows('api_keys', ['hash', 'merchant_id', 'created_at'])})
  ${insertRows('merchants', MERCHANT_COLUMNS)}`,
}

const UPDATE_WITH_LOGO: Statement = {
  name: 'merchant-update-logo',
  text: `
  WITH ${ACCOUNT_ROWS},
  logo_rows AS (${insertRows('logos', ['merchant_id', 'hash', 'png'])}
    ON CONFLICT (merchant_id) DO UPDATE SET hash = excluded.hash, png = excluded.png)
  ${updateVersioned('merchants', CHANGING_COLUMNS)}`,
}

const UPDATE_WITHOUT_LOGO: Statement = {
  name: 'merchant-update-no-logo',
  text: `
  WITH ${ACCOUNT_ROWS},
  logo_rows AS (DELETE FROM logos WHERE merchant_id = $merchant_id)
  ${updateVersioned('merchants', CHANGING_COLUMNS)}`,
}

const UPDATE: Statement = {
  name: 'merchant-update',
  text: `
  WITH ${ACCOUNT_ROWS}
  ${updateVersioned('merchants', CHANGING_COLUMNS)}`,
}

// Raw SQL, because it looks into what waits: few merchants have something.
const WAITING_FOR = `
  SELECT id FROM merchants
  WHERE (owner_changes IS NOT NULL OR pending_payout IS NOT NULL OR pending_network_payout IS NOT NULL)
    AND (owner_changes @> jsonb_build_array(jsonb_build_object('owners', jsonb_build_array($1::text)))
      OR pending_payout @> jsonb_build_object('owners', jsonb_build_array($1::text))
      OR pending_network_payout @> jsonb_build_object('owners', jsonb_build_array($1::text))
      OR id IN (SELECT merchant_id FROM members WHERE user_id = $1 AND role = 'owner'))
  LIMIT ${DUE_MAX}`

export function merchantStore(database: Database, prisma: PrismaClient, options: MerchantStoreOptions) {
  const { now, committed } = options
  const entryOf = ({ merchant, changed }: Change, action: Action, actor: Actor, target: string | null = null) =>
    auditEntry(merchant.id, actor, action, changed, merchant.updatedAt, { target })
  return {
    async find(id: string): Promise<Merchant | null> {
      const row = await prisma.merchant.findUnique({ where: { id } })
      return row && toMerchant(row)
    },
    async hasLogo(hash: string): Promise<boolean> {
      return (await prisma.logo.findFirst({ where: { hash }, select: { hash: true } })) !== null
    },
    /** A picture by its name. */
    async logo(hash: string): Promise<Uint8Array | null> {
      const row = await prisma.logo.findFirst({ where: { hash }, select: { png: true } })
      return row?.png ?? null
    },
    async withDuePayout(): Promise<Merchant[]> {
      const isDue = [{ pendingPayoutActivatesAt: { lte: now() } }, { pendingNetworkPayoutActivatesAt: { lte: now() } }]
      const rows = await prisma.merchant.findMany({ where: { OR: isDue, frozenAt: null }, take: DUE_MAX })
      return rows.map(toMerchant)
    },
    async withDueOwnerChange(): Promise<Merchant[]> {
      const rows = await prisma.merchant.findMany({ where: { ownerChangesActivateAt: { lte: now() }, frozenAt: null }, take: DUE_MAX })
      return rows.map(toMerchant)
    },
    /** Every merchant of which something waits. */
    async waiting(): Promise<string[]> {
      const isWaiting = ['pendingPayoutActivatesAt', 'pendingNetworkPayoutActivatesAt', 'ownerChangesActivateAt'].map(column => ({
        [column]: { not: null },
      }))
      return (await prisma.merchant.findMany({ where: { OR: isWaiting }, select: { id: true } })).map(({ id }) => id)
    },
    /** Merchants of which something waits, of their owners, or that was requested while this user was one. */
    async waitingFor(userId: string): Promise<Merchant[]> {
      const { rows } = await database.query<{ id: string }>({ name: 'merchants-waiting', text: WAITING_FOR }, [userId])
      return (await prisma.merchant.findMany({ where: { id: { in: rows.map(({ id }) => id) } }, orderBy: { id: 'asc' } })).map(toMerchant)
    },

    /** Writes a new merchant with its first key. Throws ApiError `merchant_exists` when the user has one. */
    async insert(change: Change, keyHash: Buffer, actor: Actor): Promise<void> {
      try {
        await database.commit({
          events: outboxRows(change.events, now()),
          write: INSERT,
          rows: {
            merchants: [toRecord(change.merchant)],
            api_keys: [{ hash: keyHash, merchant_id: change.merchant.id, created_at: change.merchant.createdAt }],
            ...accountRows(entryOf(change, 'merchant.create', actor), change.merchant, options),
          },
        })
      } catch (error) {
        if (!isUniqueViolation(error, 'merchants_user_id_key')) throw error
        throw new ApiError('merchant_exists', 'This user already has a merchant; GET /api/v1/merchants/me shows it.')
      }
      committed()
    },

    /** Writes a change of a merchant that was read at the version before. Throws a stale error (`isStale`) when it has moved on. */
    async update(change: Change, action: Action, actor: Actor, { logo, target = null }: Beside = {}): Promise<void> {
      const entry = entryOf(change, action, actor, target)
      await database.commit({
        events: outboxRows([...change.events, accountChanged(entry, change.merchant)], now()),
        write: logo ? UPDATE_WITH_LOGO : logo === null ? UPDATE_WITHOUT_LOGO : UPDATE,
        rows: {
          ...(logo ? { logos: [{ merchant_id: change.merchant.id, ...logo }] } : {}),
          merchants: [{ ...toRecord(change.merchant), version: change.merchant.version - 1 }],
          ...accountRows(entry, change.merchant, options),
        },
        ...(logo === null ? { values: { merchant_id: change.merchant.id } } : {}),
      })
      committed()
    },
  }
}

/** With a change: another picture, or null for none any more; and the id of what it decides on. */
export interface Beside {
  logo?: Logo | null | undefined
  target?: string | null
}

export interface Logo {
  hash: string
  png: Buffer
}

const branding = z.object({
  color: z.string().nullable(),
  contactEmail: z.string().nullable(),
  termsUrl: z.string().nullable(),
  logoHash: z.string().nullable(),
})

/** As they are kept in JSON. */
const payoutProof = z.object({ address: z.string(), message: z.string(), signature: z.string(), signedAt: z.coerce.date() })
const pendingPayout = z.object({
  id: z.string(),
  chainId: z.int().nullable().default(null),
  address: z.string(),
  isContract: z.boolean(),
  requestedBy: z.string(),
  requestedAt: z.coerce.date(),
  isSigned: z.boolean(),
  proof: payoutProof.nullable().default(null),
  approvedBy: z.string().nullable().default(null),
  owners: z.array(z.string()).default([]),
  activatesAt: z.coerce.date(),
})
const ownerChanges = z.array(
  z.object({
    id: z.string(),
    memberId: z.string(),
    role: role.nullable(),
    requestedBy: z.string(),
    requestedAt: z.coerce.date(),
    activatesAt: z.coerce.date(),
    owners: z.array(z.string()),
    keepsKeys: z.boolean(),
    objectedAt: z.coerce.date().nullable().default(null),
    confirmedBy: z.string().nullable().default(null),
  }),
)

/** The owners' waiting changes, and the time of the first. */
export const ownershipRecord = ({ ownerChanges, payoutHeldUntil }: Omit<Ownership, 'frozenAt'>) => ({
  owner_changes: ownerChanges.length === 0 ? null : ownerChanges,
  owner_changes_activate_at:
    ownerChanges.length === 0 ? null : new Date(Math.min(...ownerChanges.map(({ activatesAt }) => activatesAt.getTime()))),
  payout_held_until: payoutHeldUntil,
})

/** A change that waits for one network stands apart: a replica of the release before would put it in force for all of them. */
export const pendingPayoutRecord = (change: PayoutChange | null) => {
  const [all, one] = change?.chainId === null ? [change, null] : [null, change]
  return {
    pending_payout: all,
    pending_payout_activates_at: all?.activatesAt ?? null,
    pending_network_payout: one,
    pending_network_payout_activates_at: one?.activatesAt ?? null,
  }
}

const toRecord = ({ pending, ...merchant }: Merchant) => ({
  ...snakeCase(merchant),
  ...pendingPayoutRecord(merchant.pendingPayout),
  ...ownershipRecord(merchant),
  sealed_pending_secret: pending?.sealed ?? null,
  pending_activates_at: pending?.activatesAt ?? null,
})

const toMerchant = (found: MerchantRow): Merchant => {
  const {
    sealedPendingSecret,
    pendingActivatesAt,
    pendingPayoutActivatesAt,
    pendingNetworkPayoutActivatesAt,
    ownerChangesActivateAt: _due,
    ...kept
  } = found
  const { pendingNetworkPayout, ...row } = kept
  // A replica of the release before may have put one for all networks beside it, which takes its place.
  const pending = pendingPayoutActivatesAt ? row.pendingPayout : pendingNetworkPayoutActivatesAt && pendingNetworkPayout
  return {
    ...row,
    chainIds: row.chainIds.length === 0 ? null : row.chainIds,
    ownerChanges: ownerChanges.parse(row.ownerChanges ?? []),
    payoutProof: proofOf(row),
    payoutAddresses: row.payoutAddresses === null ? null : payoutAddresses.parse(row.payoutAddresses),
    pendingPayout: pending ? pendingPayout.parse(pending) : null,
    branding: row.branding === null ? PLAIN_BRANDING : branding.parse(row.branding),
    pending: sealedPendingSecret && pendingActivatesAt ? { sealed: sealedPendingSecret, activatesAt: pendingActivatesAt } : null,
  }
}

/** A replica of the release before leaves the proof of another address beside the one that it puts in force. */
function proofOf({ payoutProof: kept, payoutAddress }: Pick<MerchantRow, 'payoutProof' | 'payoutAddress'>): PayoutProof | null {
  const proof = kept === null ? null : payoutProof.parse(kept)
  return proof?.address === payoutAddress ? proof : null
}
