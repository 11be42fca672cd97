import { ApiError, answers, invalidField, operations, pathWith, requireChoice } from '@ponte/contracts'
import { merchantCaller } from '../credentials/credentials'
import type { Owner } from '../owners/owner'
import { type Change, type Merchant, termsOf } from './merchant'

/**
 * Asks orders, which knows the chain, whether money can be paid out to an address that a change brings, and whether a contract stands there. Throws
 * `payout_address_refused` with its reason, or `service_unavailable`: an address that could not be checked is not stored.
 */
export async function vetPayoutAddress(orders: Owner, change: Change, before: Merchant | null): Promise<Change> {
  const { merchant } = change
  const { payoutAddress: current, pendingPayout: pending } = merchant
  const isCurrentNew = current !== (before?.payoutAddress ?? null)
  const isPendingNew = pending !== null && pending.id !== before?.pendingPayout?.id && pending.address !== current
  // In force at once where nothing waits.
  for (const [chainId, address] of Object.entries(merchant.payoutAddresses ?? {}))
    if (address !== before?.payoutAddresses?.[chainId]) await isContract(orders, merchant, address, Number(chainId))
  const payoutIsContract =
    isCurrentNew && current !== null ? await isContract(orders, merchant, current) : isCurrentNew ? false : merchant.payoutIsContract
  const pendingPayout = isPendingNew
    ? { ...pending, isContract: await isContract(orders, merchant, pending.address, pending.chainId) }
    : pending
  return { ...change, merchant: { ...merchant, payoutIsContract, pendingPayout } }
}

/** Throws `invalid_request` on a choice of networks that orders does not follow, or `service_unavailable`. */
export async function vetNetworks(orders: Owner, merchant: Merchant): Promise<void> {
  if (merchant.chainIds === null) return
  const { status, body } = await orders.ask(merchantCaller(termsOf(merchant)), { method: 'GET', path: operations.listNetworks.path })
  if (status !== 200)
    throw new ApiError('service_unavailable', 'The networks cannot be checked at the moment; try again shortly.', { retryAfterS: 2 })
  const { data } = answers.NetworkList.parse(JSON.parse(body.toString('utf8')))
  requireChoice(
    data.map(({ chain_id }) => chain_id),
    merchant.chainIds,
  )
}

async function isContract(orders: Owner, merchant: Merchant, address: string, chainId: number | null = null): Promise<boolean> {
  const path = `${pathWith(operations.judgePayoutAddress.path, { address })}${chainId === null ? '' : `?chain_id=${chainId}`}`
  const { status, body } = await orders.ask(merchantCaller(termsOf(merchant)), { method: 'GET', path })
  const { code, detail, errors, is_contract } = Object(JSON.parse(body.toString('utf8')))
  if (status === 200) return is_contract === true
  if (code === 'payout_address_refused') throw new ApiError('payout_address_refused', String(detail))
  if (code === 'invalid_request') throw invalidField('payout_addresses', String(errors?.[0]?.message ?? detail))
  throw new ApiError('service_unavailable', 'The payout address cannot be checked at the moment; try again shortly.', { retryAfterS: 2 })
}
