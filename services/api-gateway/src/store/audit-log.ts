import type { AuditEntryBody, ListAudit, NewEvent } from '@ponte/contracts'
import { type Database, insertRows, keysetPage, outboxRows, type Statement, uuidv7 } from '@ponte/service-kit'
import { accountNotice } from '../mail'
import type { Merchant, PayoutChange } from '../merchant'
import { INSERT_MAILS, noticeRecord } from './mails'
import type { MerchantStoreOptions } from './options'

export type Action =
  | 'merchant.create'
  | 'merchant.update'
  | 'branding.update'
  | 'payout_change.sign'
  | 'payout_change.approve'
  | 'payout_change.cancel'
  | 'payout_change.activate'
  | 'api_key.rotate'
  | 'api_key.show_again'
  | 'named_key.create'
  | 'named_key.show_again'
  | 'named_key.revoke'
  | 'invitation.create'
  | 'invitation.revoke'
  | 'member.join'
  | 'member.update'
  | 'member.remove'
  | 'webhook_secret.rotate'
  | 'webhook_secret.activate'

/** The user and request behind a change. */
export interface Actor {
  userId: string
  requestId: string
  /** Where the request came from; null when nothing was requested. */
  network: string | null
}

/** A row of the audit log: who changed what and when. Names of what changed, never a value. */
export const auditEntry = (merchantId: string, actor: Actor, action: Action, changed: string[], at: Date) => ({
  id: uuidv7(),
  merchantId,
  userId: actor.userId,
  action,
  changed,
  requestId: actor.requestId,
  network: actor.network,
  at,
})

/** Inserts the records named `audit_log` of a unit of work. */
const INSERT_AUDIT_ROWS = insertRows('audit_log', ['id', 'merchant_id', 'user_id', 'action', 'changed', 'request_id', 'at', 'network'])

/** What every change of the account writes beside its own rows: the audit entry, and mails about it. */
export const ACCOUNT_ROWS = `audit_rows AS (${INSERT_AUDIT_ROWS}), mail_rows AS (${INSERT_MAILS})`
export const accountRows = (entry: ReturnType<typeof auditEntry>, merchant: Merchant, { mails }: MerchantStoreOptions) => {
  const notice = mails === true ? accountNotice(entry, merchant) : null
  return { audit_log: [auditRecordOf(entry)], mails: notice ? [noticeRecord(notice)] : [] }
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
        activates_at: pendingPayout.activatesAt.toISOString(),
      },
    },
  },
})

const auditRecordOf = ({ merchantId, userId, requestId, ...entry }: ReturnType<typeof auditEntry>) => ({
  ...entry,
  merchant_id: merchantId,
  user_id: userId,
  request_id: requestId,
})

export interface AuditRow {
  id: string
  user_id: string
  action: string
  changed: string[]
  request_id: string
  at: Date
  network: string | null
}

const NOTE: Statement = { name: 'audit-note', text: `WITH ${ACCOUNT_ROWS} SELECT 1` }

export const auditLogStore = (database: Database, options: MerchantStoreOptions) => ({
  /** Records what was done without a change. */
  async note(merchant: Merchant, action: Action, changed: string[], actor: Actor): Promise<void> {
    const at = options.now()
    const entry = auditEntry(merchant.id, actor, action, changed, at)
    const events = outboxRows([accountChanged(entry, merchant)], at)
    await database.commit({ events, write: NOTE, rows: accountRows(entry, merchant, options) })
    options.committed()
  },

  /** Entries of a merchant, newest first; oldest first when paging backwards. */
  async list(merchantId: string, query: ListAudit, limit: number): Promise<AuditRow[]> {
    const { text, values } = keysetPage({
      select: 'id, user_id, action, changed, request_id, at, network',
      from: 'audit_log',
      owner: ['merchant_id', merchantId],
      leading: [['action', 'text', query.action]],
      query,
      limit,
    })
    return (await database.query<AuditRow>(text, values)).rows
  },
})

export const auditEntryBody = ({ id, user_id, action, changed, request_id, at, network }: AuditRow): AuditEntryBody => ({
  ...{ object: 'audit_entry', id, action, changed, user_id, network, request_id, created_at: at.toISOString() },
})
