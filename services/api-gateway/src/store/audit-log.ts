import { insertRows, uuidv7 } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'

export type Action =
  | 'merchant.create'
  | 'merchant.update'
  | 'payout_change.sign'
  | 'payout_change.cancel'
  | 'payout_change.activate'
  | 'api_key.rotate'
  | 'webhook_secret.rotate'
  | 'webhook_secret.activate'

/** The user and request behind a change. */
export interface Actor {
  userId: string
  requestId: string
}

/** A row of the audit log: who changed what and when. Names of what changed, never a value. */
export const auditEntry = (merchantId: string, actor: Actor, action: Action, changed: string[], at: Date) => ({
  id: uuidv7(),
  merchantId,
  userId: actor.userId,
  action,
  changed,
  requestId: actor.requestId,
  at,
})

/** Inserts the records named `audit_log` of a unit of work. */
export const INSERT_AUDIT_ROWS = insertRows('audit_log', ['id', 'merchant_id', 'user_id', 'action', 'changed', 'request_id', 'at'])

export const auditRecordOf = ({ merchantId, userId, requestId, ...entry }: ReturnType<typeof auditEntry>) => ({
  ...entry,
  merchant_id: merchantId,
  user_id: userId,
  request_id: requestId,
})

export const auditLogStore = (prisma: PrismaClient) => ({
  list: (merchantId: string) => prisma.auditEntry.findMany({ where: { merchantId }, orderBy: { at: 'asc' } }),
})
