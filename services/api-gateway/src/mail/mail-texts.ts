import type { MailKind } from './mail'

export interface MailTexts {
  subjects: Readonly<Record<MailKind, string>>
  /** Names of the facts, in the order in which they are written. */
  facts: Readonly<Record<FactName, string>>
  /** In place of a fact that is `ponte` or null. */
  ponte: string
  none: string
  advice: Readonly<Record<Advice, string>>
  footer: string
  /** To a payer. */
  codeFooter: string
}

type FactName =
  | 'merchant'
  | 'user'
  | 'role'
  | 'reference'
  | 'brl_amount'
  | 'usdc_amount'
  | 'code'
  | 'missing_brl_amount'
  | 'expected'
  | 'received'
  | 'tx_hash'
  | 'host'
  | 'dead'
  | 'failing_since'
  | 'at'
  | 'network'
  | 'changed'
  | 'address'
  | 'payout_network'
  | 'network_addresses'
  | 'activates_at'
  | 'expires_at'
export type Advice = 'waiting' | 'account' | 'invitation' | 'event' | 'payment' | 'code'
