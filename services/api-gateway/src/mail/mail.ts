import type { MailLanguage, MailTopic } from '@ponte/contracts'

/** Each has a subject in every language. */
export type MailKind =
  | 'payout.waiting'
  | 'payout.signed'
  | 'payout.approved'
  | 'payout.cancelled'
  | 'payout.changed'
  | 'payout.proven'
  | 'webhook_url.changed'
  | 'merchant.renamed'
  | 'mail.changed'
  | 'branding.changed'
  | 'accepted.order'
  | 'accepted.charge'
  | 'refund.created'
  | 'refund.approved'
  | 'refund_limit.changed'
  | 'terms.changed'
  | 'refund_claim.created'
  | 'refund_claim.code'
  | 'key.rotated'
  | 'key.shown_again'
  | 'key.created'
  | 'key.revoked'
  | 'member.invited'
  | 'member.uninvited'
  | 'member.joined'
  | 'member.updated'
  | 'member.removed'
  | 'owner.waiting'
  | 'owner.cancelled'
  | 'owner.confirmed'
  | 'owner.changed'
  | 'session.ended'
  | 'account.frozen'
  | 'account.unfrozen'
  | 'secret.rotated'
  | 'secret.activated'
  | 'secret.shown_again'
  | 'endpoint.created'
  | 'endpoint.changed'
  | 'endpoint.deleted'
  | 'endpoint.secret_rotated'
  | 'endpoint.secret_activated'
  | 'money.underpaid'
  | 'money.overpaid'
  | 'money.paid_late'
  | 'money.paid_after_cancel'
  | 'money.duplicate'
  | 'money.unmatched'
  | 'subscription.past_due'
  | 'payment.order'
  | 'payment.subscription'
  | 'webhook.dead'
  | 'webhook.failing'
  | 'invitation'

/** Sent to the members of a merchant who want it. */
export interface Notice {
  merchantId: string
  topic: MailTopic
  kind: MailKind
  facts: Readonly<Record<string, unknown>>
  at: Date
}

/** Sent to one address, which need not be a member's. */
export interface Letter {
  id: string
  merchantId: string
  address: string
  language: MailLanguage
  topic: string
  kind: MailKind
  /** A fact whose name begins with `sealed_` is opened when it is sent. */
  facts: Readonly<Record<string, unknown>>
  createdAt: Date
}

/** A change of the account, as the audit log has it. */
export interface AccountChange {
  merchantId: string
  userId: string
  action: string
  changed: readonly string[]
  network: string | null
  /** The order or subscription that it is about. */
  target?: string | null
  at: Date
}

export interface Mail {
  id: string
  address: string
  language: MailLanguage
  kind: MailKind
  facts: Readonly<Record<string, unknown>>
  attempts: number
}

/** A code that has expired only confuses. */
export const isStale = ({ kind, facts }: Pick<Mail, 'kind' | 'facts'>, at: Date): boolean =>
  kind === 'refund_claim.code' && at >= new Date(String(facts.expires_at))
