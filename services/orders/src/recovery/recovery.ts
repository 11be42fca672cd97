import {
  type ForeignTokenBody,
  invalidField,
  type NewEvent,
  type RecoveryBody,
  type RecoveryFailure,
  type RecoveryObserved,
  type RecoveryStatus,
  type RecoveryWatch,
  type TransactionFacts,
} from '@ponte/contracts'
import { checksumAddress } from '../chain/checksum-address'
import type { Order } from '../order/order'
import { type Destination, hasSeveralNetworks, payoutAddressOn } from '../payment/payment'

/** The network's own coin, which is no token, in the place of one; the contract names it so, too. */
export const COIN = `0x${'0'.repeat(40)}`

/** Something else than the payment token, sent to an order's deposit address by a confirmed transaction. */
export interface FoundToken {
  id: string
  orderId: string
  merchantId: string
  chainId: number
  tokenAddress: string
  /** As the token states them. */
  units: bigint
  txHash: string
  /** Time of the block that it came in. */
  sentAt: Date
  foundAt: Date
}

/** The same with the latest recovery of it, and what the listener last observed of that. */
export interface ForeignToken extends FoundToken {
  version: number
  recoveryId: string | null
  /** `sub` of the user who asked for it; null for a key. */
  requestedBy: string | null
  requestedAt: Date | null
  watchFrom: bigint | null
  generation: string | null
  revision: number
  knownAt: Date | null
  failureCode: RecoveryFailure | null
  recoveredUnits: bigint | null
  recoveryTxHash: string | null
  blockNumber: bigint | null
  blockTime: Date | null
}

const UNOBSERVED = {
  generation: null,
  revision: 0,
  knownAt: null,
  failureCode: null,
  recoveredUnits: null,
  recoveryTxHash: null,
  blockNumber: null,
  blockTime: null,
}

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** A token may state any number of transfers of this size; no balance is larger. */
const BALANCE_MAX = 2n ** 256n - 1n

/** Foreign tokens that a confirmed transaction sent to the deposit address of an order, summed by token. */
export function foreignIn(
  order: Pick<Destination, 'depositAddress' | 'tokenAddress'>,
  { transfers, depth }: Pick<TransactionFacts, 'transfers' | 'depth'>,
  confirmations: number,
): Pick<FoundToken, 'tokenAddress' | 'units'>[] {
  const { depositAddress, tokenAddress: payment } = order
  if (depth < confirmations || depositAddress === null) return []
  const foreign = new Map<string, bigint>()
  const sum = (a: bigint, b: bigint) => (a + b > BALANCE_MAX ? BALANCE_MAX : a + b)
  for (const { token_address, to_address, units } of transfers) {
    const token = token_address ?? COIN
    if (isSame(to_address, depositAddress) && !isSame(token, payment)) foreign.set(token, sum(foreign.get(token) ?? 0n, BigInt(units)))
  }
  return [...foreign].map(([tokenAddress, units]) => ({ tokenAddress, units }))
}

/** Null where none was asked for, and where more of the token came after it was sent on. */
export function statusOf({ recoveryId, blockTime, failureCode, sentAt }: ForeignToken): RecoveryStatus | null {
  if (recoveryId === null || (blockTime !== null && sentAt >= blockTime)) return null
  if (blockTime !== null) return 'confirmed'
  return failureCode === null ? 'pending' : 'failed'
}

/** Sends it on, once at a time. Null where that is on its way or done. */
export function requestRecovery(
  token: ForeignToken,
  { id, by, watermark }: { id: string; by: string | null; watermark: bigint },
  at: Date,
): ForeignToken | null {
  const status = statusOf(token)
  if (status === 'pending' || status === 'confirmed') return null
  // The log of an earlier recovery is no end of this one.
  const after = token.blockNumber === null ? 0n : token.blockNumber + 1n
  const watchFrom = watermark > after ? watermark : after
  return { ...token, ...UNOBSERVED, recoveryId: id, requestedBy: by, requestedAt: at, watchFrom }
}

/** The statement of the listener taken in; null when a later one has been. A later recovery than the known one was lost here, and is taken up again. */
export function observe(token: ForeignToken, stated: RecoveryObserved, at: Date): ForeignToken | null {
  const { recovery_id: id, generation, revision, end, failure_code } = stated
  if (token.recoveryId !== null && id < token.recoveryId) return null
  const known =
    id === token.recoveryId ? token : { ...token, ...UNOBSERVED, recoveryId: id, requestedBy: null, requestedAt: at, watchFrom: 0n }
  if (known.generation !== null && generation < known.generation) return null
  if (generation === known.generation && revision <= known.revision) return null
  return {
    ...known,
    ...{ generation, revision, knownAt: at, failureCode: failure_code },
    recoveredUnits: end && BigInt(end.units),
    recoveryTxHash: end?.tx_hash ?? null,
    blockNumber: end && BigInt(end.block_number),
    blockTime: end && new Date(end.block_time),
  }
}

/** The contract takes any address for asset, and sends to one alone. Throws `invalid_request`. */
export function requireRecoverable(
  { merchantAddress, tokenAddress: payment }: Pick<Destination, 'merchantAddress' | 'tokenAddress'>,
  { token_address: token, destination }: { token_address: string | null; destination: string },
): void {
  if (token !== null && isSame(token, payment))
    throw invalidField('token_address', 'is the token that the order is paid in; it is sent on by itself')
  if (token !== null && isSame(token, COIN)) throw invalidField('token_address', "is no token; the network's own coin is null")
  if (!isSame(destination, merchantAddress))
    throw invalidField('destination', `must be ${merchantAddress}, the payout address of the order: the contract sends it nowhere else`)
}

/** Asks the listener to have it sent on, or what became of that. */
export const recoveryWatch = (recoveries: RecoveryWatch['recoveries'], chainId: number): NewEvent => ({
  type: 'recovery.watch',
  data: { chain_id: chainId, recoveries },
})

export const watched = (
  { recoveryId, orderId, tokenAddress, watchFrom }: ForeignToken,
  { memo, routerAddress, merchantAddress }: Pick<Order, 'memo' | 'routerAddress' | 'merchantAddress'>,
): RecoveryWatch['recoveries'][number] => ({
  recovery_id: recoveryId ?? '',
  order_id: orderId,
  token_address: tokenAddress,
  memo,
  router_address: routerAddress,
  merchant_address: merchantAddress,
  watch_from: Number(watchFrom ?? 0),
})

const nullForCoin = (token: string) => (token === COIN ? null : token)

/** Named only where the order has several networks. */
const networkOf = ({ chainId }: ForeignToken, order: Pick<Order, 'chainId' | 'networks'>) =>
  hasSeveralNetworks(order) ? { chain_id: chainId } : {}

type Owner = Pick<Order, 'chainId' | 'merchantAddress' | 'merchantAddresses' | 'networks'>

/** Null while none was asked for. */
export function recoveryBody(token: ForeignToken, order: Owner): RecoveryBody | null {
  const { recoveryId, requestedAt } = token
  if (recoveryId === null || requestedAt === null) return null
  return {
    object: 'recovery',
    id: recoveryId,
    order_id: token.orderId,
    token_address: nullForCoin(token.tokenAddress),
    ...networkOf(token, order),
    destination: checksumAddress(payoutAddressOn(order, token.chainId)),
    status: token.blockTime !== null ? 'confirmed' : token.failureCode === null ? 'pending' : 'failed',
    failure_code: token.blockTime === null ? token.failureCode : null,
    amount: token.recoveredUnits?.toString() ?? null,
    tx_hash: token.recoveryTxHash,
    requested_by: token.requestedBy,
    created_at: requestedAt.toISOString(),
    confirmed_at: token.blockTime?.toISOString() ?? null,
  }
}

export const foreignTokenBody = (token: ForeignToken, order: Owner): ForeignTokenBody => ({
  token_address: nullForCoin(token.tokenAddress),
  ...networkOf(token, order),
  amount: String(token.units),
  tx_hash: token.txHash,
  found_at: token.foundAt.toISOString(),
  destination: payoutAddressOn(order, token.chainId),
  recovery: statusOf(token) === null ? null : recoveryBody(token, order),
})
