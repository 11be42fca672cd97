/** A payer's EIP-3009 signature for one order. Addresses are lower-case, times Unix seconds. */
export interface Authorization {
  orderId: string
  memo: string
  merchant: string
  router: string
  payer: string
  /** Another one for each payment of the same payer for the same order; 0x and 64 hex. */
  salt: string
  amountUnits: bigint
  validAfter: number
  validBefore: number
  signature: string
  /** A contract judges it. */
  wallet: boolean
  state: 'accepted' | 'submitted' | 'paid' | 'failed'
  txHash: string | null
  reason: string | null
  failures: number
  acceptedAt: Date
}

export type NewAuthorization = Omit<Authorization, 'state' | 'txHash' | 'reason' | 'failures' | 'acceptedAt'>

/** A state to publish: `attempt` counts the signatures of an order, `revision` the states of one. */
export type AuthorizationChange = Authorization & { attempt: number; revision: number; generation: string | null }

export interface AuthorizationRow {
  order_id: string
  memo: string
  merchant: string
  router: string
  payer: string
  salt: string
  units: string
  valid_after: string
  valid_before: string
  signature: string
  wallet: boolean
  state: Authorization['state']
  tx_hash: string | null
  reason: string | null
  failures: number
  created_at: Date
}

export const COLUMNS = `order_id, memo, merchant, router, payer, salt, units::text, valid_after::text, valid_before::text, signature, wallet, state,
  tx_hash, reason, failures, created_at`

export function toAuthorization(row: AuthorizationRow): Authorization {
  return {
    orderId: row.order_id,
    memo: row.memo,
    merchant: row.merchant,
    router: row.router,
    payer: row.payer,
    salt: row.salt,
    amountUnits: BigInt(row.units),
    validAfter: Number(row.valid_after),
    validBefore: Number(row.valid_before),
    signature: row.signature,
    wallet: row.wallet,
    state: row.state,
    txHash: row.tx_hash,
    reason: row.reason,
    failures: row.failures,
    acceptedAt: row.created_at,
  }
}
