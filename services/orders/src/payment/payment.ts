import { chainIdOf } from '@ponte/contracts'

export type PaymentKind = 'router' | 'transfer'
export type PaymentStatus = 'detected' | 'confirmed' | 'orphaned'

/** Where something stands on the chain. */
export interface Position {
  id: string
  blockNumber: bigint
  blockTime: Date
  logIndex: number
}

/** Which step of which history of the listener reported something last; null for rows of the release before. */
export interface Stated {
  generation: string | null
  version: number
}

/** Money that left a payer for an order, as the listener last reported it. */
export interface Payment extends Position, Stated {
  kind: PaymentKind
  status: PaymentStatus
  /** Taken from the payer, platform fee included, in USDC base units. */
  grossUnits: bigint
  /** Of a transfer, `from` of its log; the zero address for a mint. */
  payerAddress: string
  /** Where a transfer went; null for a router payment. */
  depositAddress: string | null
  txHash: string
  blockHash: string | null
}

/** Where the money of an order goes: fixed when it is created. */
export interface Destination {
  chainId: number
  tokenAddress: string
  routerAddress: string
  merchantAddress: string
  /** Where a plain transfer pays; null for an order too small to be worth the gas of a sweep. */
  depositAddress: string | null
}

/** Another network that was followed when an order was created, and watched for it. */
export interface OtherNetwork extends Omit<Destination, 'merchantAddress'> {
  /** The order may be paid there; else what comes counts for nothing until its merchant counts it. */
  isOffered: boolean
  /** Before this block its address was known to no one. */
  watchFrom: number
  /** A contract stood at the payout address there when it was made. */
  merchantIsContract: boolean
}

/** Such a network before there is an order. */
export interface OfferedNetwork
  extends Pick<OtherNetwork, 'chainId' | 'isOffered' | 'tokenAddress' | 'routerAddress' | 'merchantIsContract'> {
  /** The merchant's there; where it is not offered that of the order's first network, since its deposit address is the one that payers see. */
  merchantAddress: string
  /** Where a plain transfer pays this memo and merchant; null where the network has no such addresses. */
  depositAddress(memo: string, merchantAddress: string): string | null
}

/** Where a merchant is paid: at one address on all networks but those for which they named another one, by chain. */
export interface Payout {
  merchantAddress: string
  merchantAddresses: Readonly<Record<string, string>>
}

export const payoutAddressOn = ({ merchantAddress, merchantAddresses }: Payout, chainId: number): string =>
  merchantAddresses[chainId] ?? merchantAddress

/** An order by the networks that it may be paid on: the first, and of the others those that it offers. */
export interface Payable extends Destination, Payout {
  networks: readonly OtherNetwork[]
}

export const destinationsOf = (payable: Payable): Destination[] => {
  const { networks, merchantAddresses: _, ...first } = payable
  return [first, ...offered(networks).map(network => destinationOf(payable, network))]
}
export const destinationOf = (payable: Payout, network: OtherNetwork): Destination => ({
  ...network,
  merchantAddress: payoutAddressOn(payable, network.chainId),
})
const offered = (networks: readonly OtherNetwork[]) => networks.filter(({ isOffered }) => isOffered)

/** On one of its networks; the first where it may not be paid on that one. */
export const destinationOn = (payable: Payable, chainId: number): Destination =>
  destinationsOf(payable).find(destination => destination.chainId === chainId) ?? payable
export const chainIdsOf = ({ chainId, networks }: Pick<Payable, 'chainId' | 'networks'>): number[] => [
  chainId,
  ...offered(networks).map(network => network.chainId),
]
export const hasSeveralNetworks = (order: Pick<Payable, 'chainId' | 'networks'>): boolean => chainIdsOf(order).length > 1

/** Blocks speak of their own chain alone: a payment that they do not name is missing there. Ids of early releases name none. */
export const isOfChain = ({ id }: { id: string }, chainId: number): boolean => [null, chainId].includes(chainIdOf(id))

/** Of the chains that are followed, the one on which most of the confirmed money of an order came, else the first of them; its own first where none is followed. */
export function mainChainOf(order: Payable, payments: readonly Payment[], followed: { has(chainId: number): boolean }): number {
  const units = Map.groupBy(confirmedPayments(payments), ({ id }) => chainIdOf(id) ?? order.chainId)
  const came = (chainId: number) => sumUnits(units.get(chainId) ?? [])
  const [main = order.chainId, ...others] = chainIdsOf(order).filter(chainId => followed.has(chainId))
  return others.reduce((most, chainId) => (came(chainId) > came(most) ? chainId : most), main)
}

/** Where a payment went, and how much of it. */
export interface Target extends Destination {
  grossUnits: bigint
}

/** By the place on the chain, and across chains by block time and the chain's number. The id decides between logs of equal blocks on both sides of a reorg. */
export function inChainOrder(a: Position, b: Position): number {
  const [chainId, otherId] = [chainIdOf(a.id), chainIdOf(b.id)]
  if (chainId !== otherId) return a.blockTime.getTime() - b.blockTime.getTime() || (chainId ?? 0) - (otherId ?? 0)
  if (a.blockNumber !== b.blockNumber) return a.blockNumber < b.blockNumber ? -1 : 1
  if (a.logIndex !== b.logIndex) return a.logIndex - b.logIndex
  return a.id < b.id ? -1 : Number(a.id > b.id)
}

export const livePayments = (payments: readonly Payment[]): Payment[] => payments.filter(({ status }) => status !== 'orphaned')
export const confirmedPayments = (payments: readonly Payment[]): Payment[] => payments.filter(({ status }) => status === 'confirmed')

export const sumUnits = (payments: readonly { grossUnits: bigint }[]): bigint =>
  payments.reduce((total, { grossUnits }) => total + grossUnits, 0n)

/** Of two statements that of the newer generation holds; within one the later. */
export function isNewer(a: Stated, b: Stated): boolean {
  if (a.generation === b.generation) return a.version > b.version
  return b.generation === null || (a.generation !== null && a.generation > b.generation)
}

/** The payments as they are with these. */
export const withPayments = (payments: readonly Payment[], changed: readonly Payment[]): Payment[] => {
  const ids = new Set(changed.map(({ id }) => id))
  return [...payments.filter(({ id }) => !ids.has(id)), ...changed]
}
