import type { Payment } from './payment'

/** The last signature that the relayer of one network took for an order, as it was last reported. */
export interface Authorization {
  chainId: number
  status: 'accepted' | 'submitted' | 'paid' | 'failed'
  payerAddress: string
  grossUnits: bigint
  /** Unix seconds. */
  validBefore: number
  txHash: string | null
  reason: string | null
}

/**
 * Amounts of signatures that no payment has brought yet: they are on the way, and not due. A signature's payment is known by its transaction alone: its payer may
 * have paid the same amount before. One by another transaction counts twice until the relayer reports it, which asks no one to pay twice.
 */
export const comingUnits = (authorizations: readonly Authorization[], payments: readonly Payment[]): bigint =>
  authorizations.reduce((sum, authorization) => sum + comingOf(authorization, payments), 0n)

function comingOf(authorization: Authorization, payments: readonly Payment[]): bigint {
  if (authorization.status !== 'accepted' && authorization.status !== 'submitted') return 0n
  const isIts = ({ status, txHash }: Payment) => status !== 'orphaned' && txHash === authorization.txHash
  return payments.some(isIts) ? 0n : authorization.grossUnits
}

const SHOWN: readonly Authorization['status'][] = ['submitted', 'accepted', 'failed', 'paid']

/** One that is on its way comes first; a failure stands before a payment, which the payer sees anyway. */
export const shownAuthorization = (authorizations: readonly Authorization[]): Authorization | null =>
  authorizations.toSorted((one, other) => SHOWN.indexOf(one.status) - SHOWN.indexOf(other.status))[0] ?? null
