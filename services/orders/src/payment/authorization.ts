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

/** What a signature will bring that no payment has brought yet: it is on the way, and not due. */
export function comingUnits(authorization: Authorization | null, payments: readonly Payment[]): bigint {
  if (authorization?.status !== 'accepted' && authorization?.status !== 'submitted') return 0n
  const payer = authorization.payerAddress.toLowerCase()
  const isIts = ({ kind, status, payerAddress, grossUnits }: Payment) =>
    kind === 'router' && status !== 'orphaned' && grossUnits === authorization.grossUnits && payerAddress.toLowerCase() === payer
  return payments.some(isIts) ? 0n : authorization.grossUnits
}
