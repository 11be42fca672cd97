import { z } from 'zod'
import { invalidField } from '../errors'
import { address } from '../fields'

/** A choice of networks, as a merchant makes it for all new orders or for one. */
export const chainIds = z.array(z.int()).min(1).max(20)

export const networkNumber = z.string().regex(/^[1-9]\d{0,8}$/, 'must be the number of a network')

/** The same as a number in a body. */
export const chainIdInput = z.int().min(1).max(999_999_999)

/** Payout addresses by the number of their network. */
export const payoutAddresses = z.record(networkNumber, address)

/** A filter of lists. Those that were on one network alone have it of everything. */
export const chainIdInQuery = networkNumber.transform(Number)

/** The network that a payout address is for, where it is for one alone. */
export const judgedNetwork = z.object({ chain_id: chainIdInQuery.optional() })

export const network = z.object({
  network: z.string(),
  chain_id: z.int(),
  token_address: address,
  suspended: z
    .boolean()
    .meta({ description: 'It stands still, or its operator stopped it: of those after the first no new order offers it' }),
})
export type NetworkBody = z.infer<typeof network>

export const networkList = z.object({
  object: z.literal('list'),
  data: z.array(network).min(1).meta({ description: 'The first is that of every order' }),
})
export type NetworkListBody = z.infer<typeof networkList>

/** Throws `invalid_request` where a choice of networks names another one than these, or leaves out the first. */
export function requireChoice([first, ...others]: readonly number[], chosen: readonly number[]): void {
  if (first === undefined || !chosen.includes(first))
    throw invalidField('chain_ids', `must name ${first}, on which every order may be paid`)
  const unknown = chosen.some(chainId => chainId !== first && !others.includes(chainId))
  if (unknown) throw invalidField('chain_ids', `must be of the networks here: ${[first, ...others].join(', ')}`)
}
