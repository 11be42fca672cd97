import { createHash } from 'node:crypto'
import { ownPayouts } from './networks'
import { groupBy, lower, millis, type Row, text, unlike } from './rows'

export interface AccountBooks {
  /** The gateway's, which owns them. */
  merchants: readonly Row[]
  members: readonly Row[]
  apiKeys: readonly Row[]
  namedKeys: readonly Row[]
  /** Merchants as other services were notified of them, by the service. */
  copies: Readonly<Record<string, readonly Row[]>>
  /** Kept by the dispatcher. */
  events: readonly Row[]
  now: number
  /** True for a merchant that a restored database of the gateway has forgotten. */
  isForgotten(id: unknown): boolean
}

/** Published of a change of the account: its merchant is informed of every one. */
interface Change {
  id: string
  action: string
  changed: readonly string[]
  at: number
}

/** The least that EVENT_RETENTION_DAYS may be. */
const KEPT_MS = 3 * 86_400_000
const BEHIND_MS = 600_000
/** Between the moment that a change has and that of its row. */
const APART_MS = 10_000
const TERMS = [
  'display_name',
  'payout_address',
  'webhook_url',
  'payment_tolerance_units',
  'refund_approval_above_units',
  'chain_ids',
  'payout_addresses',
]
const MAKES_MEMBER = ['member.join', 'member.update', 'owner_change.activate', 'owner_change.confirm', 'owner_change.cancel']

/** Terms are the same at every service, and members and keys are those whose changes were published when they were made. */
export function accountDifferences(books: AccountBooks): string[] {
  const changes = groupBy(
    books.events.filter(({ type }) => type === 'account.changed'),
    row => String(row.merchant_id),
  )
  const events = groupBy(books.events, row => String(row.merchant_id))
  return [
    ...termsDifferences(books),
    ...books.merchants.flatMap(merchant => {
      const id = String(merchant.id)
      const ofMerchant = (row: Row) => row.merchant_id === id
      const kept = events.get(id) ?? []
      return originDifferences({
        merchant,
        members: books.members.filter(ofMerchant),
        apiKeys: books.apiKeys.filter(ofMerchant),
        namedKeys: books.namedKeys.filter(ofMerchant),
        changes: (changes.get(id) ?? []).map(changeOf),
        since: kept.some(({ sequence }) => text(sequence) === '1')
          ? 0
          : Math.min(books.now - KEPT_MS, ...kept.map(({ created_at }) => millis(created_at))),
      })
    }),
  ]
}

function termsDifferences({ merchants, copies, now, isForgotten }: AccountBooks): string[] {
  const owned = new Map(merchants.map(row => [String(row.id), row]))
  return Object.entries(copies).flatMap(([service, rows]) => {
    const known = new Map(rows.map(row => [String(row.id), row]))
    return [
      ...rows
        .filter(({ id }) => !owned.has(String(id)) && !isForgotten(id))
        .map(({ id }) => `terms: ${service} has merchant ${id}, which the gateway does not have`),
      ...merchants.flatMap(merchant => {
        const copy = known.get(String(merchant.id))
        const about = `merchant ${merchant.id} at ${service}`
        const [mine, theirs] = [Number(merchant.version), Number(copy?.version ?? 0)]
        if (theirs > mine) return [`terms: ${about} has version ${theirs}, and the gateway ${mine}`]
        if (theirs < mine)
          return now - millis(merchant.updated_at) > BEHIND_MS ? [`terms: ${about} has version ${theirs}, and the gateway ${mine}`] : []
        return unlike(
          `${about}, in version ${mine},`,
          TERMS.filter(column => copy !== undefined && column in copy).map(column => {
            const read = column === 'payout_addresses' ? ownPayouts : lower
            return [column, read(copy?.[column]), read(merchant[column])]
          }),
        )
      }),
    ]
  })
}

interface Account {
  merchant: Row
  members: readonly Row[]
  apiKeys: readonly Row[]
  namedKeys: readonly Row[]
  changes: readonly Change[]
  /** The dispatcher has forgotten what is older. */
  since: number
}

function originDifferences({ merchant, members, apiKeys, namedKeys, changes, since }: Account): string[] {
  const created = millis(merchant.created_at)
  /** A key or member that came with the merchant has no change of its own. */
  const isFirst = (at: number) => at === created
  const isMade = (at: number, by: (change: Change) => boolean) =>
    at < since || changes.some(change => Math.abs(change.at - at) < APART_MS && by(change))
  const firsts = (of: readonly Row[]) => of.filter(row => isFirst(millis(row.created_at))).length
  return [
    ...(firsts(members) > 1 ? [`members: merchant ${merchant.id} was made by ${firsts(members)} owners`] : []),
    ...members.flatMap(({ id, role, created_at, role_since }) => {
      const at = millis(role_since ?? created_at)
      const isOwner = role_since === null && isFirst(at) && role === 'owner'
      return isOwner || isMade(at, change => makesRole(change, String(role)))
        ? []
        : [`members: member ${id} of merchant ${merchant.id} is ${role}, and no such change was published`]
    }),
    ...apiKeys.flatMap(({ created_at, hash }) =>
      isFirst(millis(created_at)) || isMade(millis(created_at), ({ id, action }) => action === 'api_key.rotate' && isOf(id, hash))
        ? []
        : [`keys: merchant ${merchant.id} has a key of ${text(created_at)}, and no rotation was published`],
    ),
    ...namedKeys.flatMap(({ id, scopes, created_at, hash }) => {
      const named = ['api_key', ...((scopes ?? []) as string[])].sort().join()
      return isMade(
        millis(created_at),
        change => change.action === 'named_key.create' && [...change.changed].sort().join() === named && isOf(change.id, hash),
      )
        ? []
        : [`keys: key ${id} of merchant ${merchant.id} may ${named}, and no such key was published`]
    }),
  ]
}

/** The id of a change that made a key has bits of the key's hash, where it is a UUIDv8; a release before made UUIDv7s. */
function isOf(id: string, hash: unknown): boolean {
  const digits = id.replaceAll('-', '')
  if (digits[12] !== '8') return true
  const bits = createHash('sha256')
    .update(Buffer.from(String(hash), 'hex'))
    .digest('hex')
  return digits.slice(13, 16) + digits.slice(17) === bits.slice(0, 3) + bits.slice(4, 19)
}

/** An owner to be is a viewer meanwhile. */
function makesRole({ action, changed }: Change, role: string): boolean {
  if (!MAKES_MEMBER.includes(action)) return false
  const waits = action === 'member.join' && changed.includes('pending_owner_change')
  return waits ? role === 'viewer' : changed.includes(`role:${role}`)
}

function changeOf(row: Row): Change {
  const { data } = JSON.parse(String(row.body)) as { data: { id: string; action: string; changed: string[]; created_at: string } }
  return { id: data.id, action: data.action, changed: data.changed, at: Date.parse(data.created_at) }
}
