import type { Payment } from './payment'

/** The last signature that the relayer took for an order, as it was last reported. */
export interface Authorization {
  status: 'accepted' | 'submitted' | 'paid' | 'failed'
  payerAddress: string
  grossUnits: bigint
  /** Unix seconds. */
  validBefore: number
  txHash: string | null
  reason: string | null
}

/**
 * What a signature will bring that no payment has brought yet: it is on the way, and not due. Its payment is known by its transaction alone: its payer may
 * have paid the same amount before. One by another transaction counts twice until the relayer reports it, which asks no one to pay twice.
 */
export function comingUnits(authorization: Authorization | null, payments: readonly Payment[]): bigint {
  if (authorization?.status !== 'accepted' && authorization?.status !== 'submitted') return 0n
  const isIts = ({ status, txHash }: Payment) => status !== 'orphaned' && txHash === authorization.txHash
  return payments.some(isIts) ? 0n : authorization.grossUnits
}
