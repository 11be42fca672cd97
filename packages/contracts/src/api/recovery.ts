import { z } from 'zod'
import { address, id, timestamp, txHash } from '../fields'
import { chainIdInput } from './network'

const chainId = z.int().optional().meta({ description: 'On which network it lies; only where the order has `networks`' })
const tokenAddress = address.nullable().meta({ description: "The token; null for the network's own coin" })
/** Of a token of which nothing is believed, its decimals neither. */
const tokenUnits = z
  .string()
  .regex(/^\d{1,78}$/)
  .meta({ description: 'In the smallest units of the token, as the token states them', example: '5000000000000000000' })

export const createRecovery = z.strictObject({
  token_address: tokenAddress,
  chain_id: chainIdInput
    .optional()
    .meta({ description: 'The network of the order on which it lies; needed where it was found on several' }),
  destination: address.meta({
    description: 'The payout address of the order, by which you confirm that you control it: the contract sends it nowhere else',
  }),
})
export type CreateRecovery = z.infer<typeof createRecovery>

export const recoveryStatus = z.enum(['pending', 'confirmed', 'failed']).meta({
  description:
    '`pending`: it is submitted as soon as gas is worth it, or waits to be confirmed. `confirmed`: the router has sent it on; a reorganisation takes that back. ' +
    '`failed`: it is not tried any more, and can be asked for again.',
})
export type RecoveryStatus = z.infer<typeof recoveryStatus>

export const recoveryFailure = z.enum(['nothing_left', 'refused', 'payout_contract_missing', 'too_dear', 'over_budget', 'not_sent']).meta({
  description:
    '`nothing_left`: nothing of it lies at the deposit address. `refused`: the token or the payout address does not take part, or wants too much gas. `payout_contract_missing`: the ' +
    'contract at the payout address does not stand on this network. `too_dear`, `over_budget`, `not_sent`: for a day gas cost too much, your budget was spent, or it could not be sent.',
})
export type RecoveryFailure = z.infer<typeof recoveryFailure>

export const recovery = z
  .object({
    object: z.literal('recovery'),
    id,
    order_id: id,
    token_address: tokenAddress,
    chain_id: chainId,
    destination: address,
    status: recoveryStatus,
    failure_code: recoveryFailure.nullable(),
    amount: tokenUnits.nullable().meta({ description: 'What was sent on, as the token states it; null until it is confirmed' }),
    tx_hash: txHash.nullable(),
    requested_by: z.string().nullable().meta({ description: '`sub` of the user who asked for it; null for a key' }),
    created_at: timestamp,
    confirmed_at: timestamp.nullable().meta({ description: 'Time of the block in which it was sent on' }),
  })
  .meta({ id: 'Recovery' })
export type RecoveryBody = z.infer<typeof recovery>

/** Answer of `GET /api/v1/orders/:id/recoveries`: the latest of each token. */
export const recoveryList = z.object({ object: z.literal('list'), data: z.array(recovery) })
export type RecoveryListBody = z.infer<typeof recoveryList>

/** Something else than the payment token, which a transaction sent to an order's deposit address. Its name and symbol are whatever a stranger wrote. */
export const foreignToken = z.object({
  token_address: tokenAddress,
  chain_id: chainId,
  amount: tokenUnits,
  tx_hash: txHash.meta({ description: 'The transaction that sent it' }),
  found_at: timestamp.meta({ description: 'When an explanation of that transaction found it' }),
  destination: address.meta({ description: 'The payout address of the order: it can be recovered to there and to nowhere else' }),
  recovery: recovery.nullable().meta({ description: 'Where it was asked for' }),
})
export type ForeignTokenBody = z.infer<typeof foreignToken>
