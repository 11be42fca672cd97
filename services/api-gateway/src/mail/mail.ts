import type { MailLanguage, MailTopic } from '@ponte/contracts'
import type { AccountKind } from './account-notice'

export type MailKind = AccountKind | 'invitation'

/** What is reported to the members of a merchant who want it. */
export interface Notice {
  merchantId: string
  topic: MailTopic
  kind: MailKind
  facts: Readonly<Record<string, unknown>>
  at: Date
}

/** A change of the account, as the audit log has it. */
export interface AccountChange {
  merchantId: string
  userId: string
  action: string
  changed: readonly string[]
  network: string | null
  at: Date
}

/** A mail that is due. */
export interface Mail {
  id: string
  address: string
  language: MailLanguage
  kind: MailKind
  facts: Readonly<Record<string, unknown>>
  attempts: number
}
