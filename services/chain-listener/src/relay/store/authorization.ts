import { flag, int, table, text, time, units } from '@ponte/service-kit'
import { z } from 'zod'

/** A payer's EIP-3009 signature for one order. Addresses are lower-case, times Unix seconds. */
export const authorizations = table(
  'authorizations',
  {
    orderId: text,
    memo: text,
    merchant: text,
    router: text,
    payer: text,
    /** Another one for each payment of the same payer for the same order; 0x and 64 hex. */
    salt: text,
    amountUnits: units,
    validAfter: int,
    validBefore: int,
    signature: text,
    /** A contract judges it. */
    wallet: flag,
    state: z.enum(['accepted', 'submitted', 'paid', 'failed']),
    txHash: text.nullable(),
    reason: text.nullable(),
    failures: int,
    acceptedAt: time,
  },
  { amountUnits: 'authorizations.units', acceptedAt: 'authorizations.created_at' },
)
export type Authorization = ReturnType<typeof authorizations.parse>

export type NewAuthorization = Omit<Authorization, 'state' | 'txHash' | 'reason' | 'failures' | 'acceptedAt'>

/** A state to publish: `attempt` counts the signatures of an order, `revision` the states of one. */
export type AuthorizationChange = Authorization & { attempt: number; revision: number; generation: string | null }
