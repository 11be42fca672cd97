import { type AuditEntryBody, auditOutcome, type ListAudit, type NewEvent, type OperationId, type Operations } from '@ponte/contracts'
import { type Database, insertRows, keysetPage, outboxRows, type Statement, snakeCase, uuidv7, uuidv7At } from '@ponte/service-kit'
import { accountNotice } from '../mail/account-notice'
import type { Merchant } from '../merchant/merchant'
import type { PayoutChange } from '../merchant/payout-change'
import type { RequestedChange } from '../owners/recorded'
import { INSERT_MAILS, noticeRecord } from './mails'
import type { MerchantStoreOptions } from './options'

type Audited<Asked> = Asked extends { audit: infer Name extends string } ? Name : never
/** As the table of operations names it, or what no operation asks for. */
export type Action =
  | Audited<Operations[OperationId]>
  | 'payout_change.activate'
  | 'owner_change.activate'
  | 'api_key.show_again'
  | 'named_key.show_again'
  | 'webhook_secret.show_again'
  | 'endpoint_secret.show_again'
  | 'merchant.freeze'
  | 'merchant.unfreeze'

export interface Actor {
  userId: string
  requestId: string
  /** Where the request came from; null when nothing was requested. */
  network: string | null
}

/** A row of the audit log: who changed what and when. Names of what changed, never a value. */
export const auditEntry = (
  merchantId: string,
  actor: Actor,
  action: string,
  changed: string[],
  at: Date,
  { id = uuidv7(), target = null }: { id?: string; target?: string | null } = {},
) => ({
  id,
  merchantId,
  userId: actor.userId,
  action,
  changed,
  target,
  requestId: actor.requestId,
  network: actor.network,
  at,
})

const INSERT_AUDIT_ROWS = insertRows('audit_log', [
  'id',
  'merchant_id',
  'user_id',
  'action',
  'changed',
  'request_id',
  'at',
  'network',
  'target',
])

/** Written by every change of the account beside its own rows: the audit entry, and mails about it. */
export const ACCOUNT_ROWS = `audit_rows AS (${INSERT_AUDIT_ROWS}), mail_rows AS (${INSERT_MAILS})`
export const accountRows = (entry: ReturnType<typeof auditEntry>, merchant: Merchant, { mails }: MerchantStoreOptions) => {
  const notice = mails === true ? accountNotice(entry, merchant) : null
  return { audit_log: [snakeCase(entry)], mails: notice ? [noticeRecord(notice)] : [] }
}

/** The same as an event for the merchant, who may not have wanted it. */
export const accountChanged = (
  entry: ReturnType<typeof auditEntry>,
  { version, pendingPayout }: { version: number; pendingPayout: PayoutChange | null },
): NewEvent => ({
  type: 'account.changed',
  data: {
    merchant_id: entry.merchantId,
    merchant_version: version,
    account: {
      ...{ id: entry.id, action: entry.action, changed: entry.changed, user_id: entry.userId, created_at: entry.at.toISOString() },
      payout_change: pendingPayout && {
        id: pendingPayout.id,
        payout_address: pendingPayout.address,
        ...(pendingPayout.chainId === null ? {} : { chain_id: pendingPayout.chainId }),
        activates_at: pendingPayout.activatesAt.toISOString(),
      },
    },
  },
})

export interface AuditRow {
  id: string
  user_id: string
  action: string
  changed: string[]
  request_id: string
  at: Date
  network: string | null
  is_request: boolean
  target: string | null
  created: string | null
  outcome: string | null
}

type RequestRow = Pick<AuditRow, 'user_id' | 'action' | 'changed' | 'request_id' | 'network' | 'at' | 'target'>
const entryOf = (merchantId: string, row: RequestRow) =>
  auditEntry(merchantId, { userId: row.user_id, requestId: row.request_id, network: row.network }, row.action, row.changed, row.at, row)

export type RequestEntry = RequestedChange & { merchantId: string; actor: Actor }

export type Outcome = 'done' | 'repeated' | 'refused'

// Raw SQL, because both are on the path of a request: one prepared statement each.
const BEGIN = `
  INSERT INTO audit_log (id, merchant_id, user_id, action, changed, request_id, at, network, is_request, target)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, true, $9)`
// The notice is written with the outcome: neither is there without the other.
const END: Statement = {
  name: 'audit-end',
  text: `WITH mail_rows AS (${INSERT_MAILS}) ${insertRows('audit_outcomes', ['entry_id', 'outcome', 'created', 'ended_at'])}`,
}
const ENTRY = 'SELECT user_id, action, changed, request_id, network, at, target FROM audit_log WHERE id = $1'
// A request whose process died, or whose owner failed, may have changed something.
const UNANSWERED = `
  SELECT id, merchant_id FROM audit_log LEFT JOIN audit_outcomes ON entry_id = id
  WHERE is_request AND entry_id IS NULL AND action = ANY($1::text[]) AND at BETWEEN $2::timestamptz - interval '1 day' AND $2::timestamptz - interval '1 minute'
  ORDER BY id LIMIT 100`

const NOTE: Statement = { name: 'audit-note', text: `WITH ${ACCOUNT_ROWS} SELECT 1` }

export const auditLogStore = (database: Database, options: MerchantStoreOptions) => ({
  /** Records what was done without a change. */
  async note(merchant: Merchant, action: Action, changed: string[], actor: Actor, target: string | null = null): Promise<void> {
    const at = options.now()
    const entry = auditEntry(merchant.id, actor, action, changed, at, { target })
    const events = outboxRows([accountChanged(entry, merchant)], at)
    await database.commit({ events, write: NOTE, rows: accountRows(entry, merchant, options) })
    options.committed()
  },

  /** Records a request before it is sent on, so that none has an effect without its row. Answers the id of the row. */
  async begin({ merchantId, action, changed, target, actor }: RequestEntry): Promise<string> {
    const at = options.now()
    const id = uuidv7At(at)
    const { userId, requestId, network } = actor
    await database.query({ name: 'audit-begin', text: BEGIN }, [id, merchantId, userId, action, changed, requestId, at, network, target])
    return id
  },
  /** Records what became of it, and informs of it where a merchant is given; without this its outcome stays unknown. */
  async end(id: string, outcome: Outcome | 'unknown', created: string | null, informing: Merchant | null): Promise<void> {
    const at = options.now()
    const { rows } = informing ? await database.query<RequestRow>({ name: 'audit-entry', text: ENTRY }, [id]) : { rows: [] }
    const [row] = rows
    const entry = informing && row ? { ...entryOf(informing.id, row), id } : null
    const notice = entry && informing && options.mails === true ? accountNotice(entry, informing) : null
    await database.commit({
      events: entry && informing ? outboxRows([accountChanged(entry, informing)], at) : [],
      write: END,
      rows: { audit_outcomes: [{ entry_id: id, outcome, created, ended_at: at }], mails: notice ? [noticeRecord(notice)] : [] },
    })
    if (entry) options.committed()
  },
  /** Requests for one of these actions that no answer was recorded of. */
  async unanswered(actions: readonly string[]): Promise<{ id: string; merchant_id: string }[]> {
    return (
      await database.query<{ id: string; merchant_id: string }>({ name: 'audit-unanswered', text: UNANSWERED }, [actions, options.now()])
    ).rows
  },

  async list(merchantId: string, query: ListAudit, limit: number): Promise<AuditRow[]> {
    const { rows } = await keysetPage<AuditRow>(database, {
      select: 'id, user_id, action, changed, request_id, at, network, is_request, target, created, outcome',
      from: 'audit_log LEFT JOIN audit_outcomes ON entry_id = id',
      owner: ['merchant_id', merchantId],
      leading: [['action', 'text', query.action]],
      query,
      limit,
    })
    return rows
  },
})

export const auditEntryBody = ({ is_request, target, created, at, ...row }: AuditRow): AuditEntryBody => ({
  ...{ object: 'audit_entry', id: row.id, action: row.action, changed: row.changed, target: target ?? created },
  ...{ user_id: row.user_id, network: row.network, request_id: row.request_id, created_at: at.toISOString() },
  // A change of the account was written with its row.
  outcome: auditOutcome.catch('unknown').parse(is_request ? row.outcome : 'done'),
})
