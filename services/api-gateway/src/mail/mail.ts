import type { MailLanguage, MailTopic } from '@ponte/contracts'
import type { MailTexts } from './texts-pt'

/** Each has a subject in every language. */
export type MailKind = keyof MailTexts['subjects']

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
