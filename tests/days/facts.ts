/** Facts that a chain shows of the token, and acts of merchants, in the order in which it became known. Amounts are base units, addresses lower-case, times milliseconds. */
export type Step = { at: number } & (
  | { kind: 'confirmed' | 'gone'; block: Block }
  /** The chain is confirmed up to a block of this time. */
  | { kind: 'advanced'; time: number }
  | { kind: 'payout'; merchant: string; version: number; address: string; since: number }
  | { kind: 'asked'; order: Asked }
  | { kind: 'accepted'; orderId: string }
  | { kind: 'attached'; blockHash: string; orderId: string }
  | { kind: 'promised'; nonce: string; orderId: string }
)

/** An order as its payer sees it. */
export interface Asked {
  id: string
  merchant: string
  memo: string
  payout: string
  /** Null where it has none. */
  deposit: string | null
  units: bigint
  /** Micro-BRL for a USDC. */
  rate: bigint
}

export interface Transfer {
  from: string
  to: string
  units: bigint
}

export interface Transaction {
  hash: string
  /** As its sender wrote it; null of a plain transfer. */
  memo: string | null
  /** Of the authorization that it used up; null without one. */
  nonce: string | null
  transfers: readonly Transfer[]
}

export interface Block {
  number: number
  hash: string
  time: number
  transaction: Transaction
}
