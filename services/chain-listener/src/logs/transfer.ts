import { NO_MEMO } from '@ponte/contracts'
import { id } from 'ethers'
import type { RawLog } from '../rpc/raw-log'
import { byPlace, MalformedLogError, type Place, placeOf, type SeenPayment } from './payment-received'

export const TRANSFER_TOPIC = id('Transfer(address,address,uint256)')

/** An address that is watched and the terms a transfer to it pays: a deposit address, or a payout address (`payoutAddress`). Lower-case. */
export interface Deposit {
  address: string
  memo: string
  merchant: string
  router: string
  /** Whether a transfer in this block is known to us; in every block where it is absent. */
  covers?: (block: number) => boolean
}

/** One transfer of the token, wherever it goes. Addresses are lower-case. */
export interface SeenTransfer extends Place {
  from: string
  to: string
  amount: bigint
}

const ADDRESS_WORD = /^0x0{24}[0-9a-f]{40}$/
const WORD = /^0x[0-9a-f]{64}$/

export const topicOf = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

/** Of whichever token: one of a collectible has a topic more. */
export const isTransferLog = ({ topics: [topic, from = '', to = '', ...more], data }: RawLog): boolean =>
  topic === TRANSFER_TOPIC && more.length === 0 && ADDRESS_WORD.test(from) && ADDRESS_WORD.test(to) && WORD.test(data)

/** Throws MalformedLogError. */
export function decodeTransfer(log: RawLog, token: string): SeenTransfer {
  const [topic, from, to, ...more] = log.topics
  if (log.address.toLowerCase() !== token || topic !== TRANSFER_TOPIC || from === undefined || to === undefined || more.length > 0)
    throw new MalformedLogError(`the log is not a transfer of ${token}: ${log.address} ${log.topics.join()}`)
  if (!ADDRESS_WORD.test(from) || !ADDRESS_WORD.test(to) || !WORD.test(log.data))
    throw new MalformedLogError(`the transfer is malformed: ${log.topics.join()} ${log.data.slice(0, 200)}`)
  const place = placeOf(log)
  // Field by field: this runs for every transfer of the token.
  return {
    from: `0x${from.slice(26)}`,
    to: `0x${to.slice(26)}`,
    amount: BigInt(log.data),
    txHash: place.txHash,
    logIndex: place.logIndex,
    blockNumber: place.blockNumber,
    blockHash: place.blockHash,
    blockTime: place.blockTime,
  }
}

/** A payout address as one that is watched, in blocks from one on and before another. A transfer to it is of no memo and no router. */
export const payoutAddress = (address: string, from = 0, until = Number.POSITIVE_INFINITY): Deposit => ({
  ...{ address, memo: NO_MEMO, merchant: address, router: ZERO },
  covers: block => block >= from && block < until,
})
const ZERO = `0x${'0'.repeat(40)}`

/** The transfers to one of these addresses. One of nothing pays nothing. What a router moved is among those to payout addresses until `withoutMoved`. */
export function toDeposits<Seen extends SeenTransfer>(
  transfers: readonly Seen[],
  deposits: ReadonlyMap<string, Deposit>,
): (SeenPayment & Pick<Seen, 'blockTime'>)[] {
  return transfers.flatMap(({ from, to, ...seen }) => {
    const deposit = deposits.get(to)
    if (!deposit || seen.amount === 0n || deposit.covers?.(seen.blockNumber) === false) return []
    const { router, memo, merchant, address } = deposit
    return [{ ...seen, kind: 'transfer' as const, fee: null, router, memo, merchant, payer: from, deposit: address }]
  })
}

const isPlain = ({ memo }: SeenPayment) => memo === NO_MEMO

/**
 * The same without the transfers to payout addresses by which a router moved a share or its fee, and without those that moved nothing because they went back to
 * where they came from. A router sends the fee, then the share, then emits: of equal transfers before it the last one is its own, and none is taken twice.
 */
export function withoutMoved<Seen extends SeenPayment>(seen: Seen[]): Seen[] {
  const plain = new Map<string, Seen[]>()
  for (const one of seen) {
    if (!isPlain(one)) continue
    const key = transactionOf(one)
    plain.set(key, [...(plain.get(key) ?? []), one])
  }
  if (plain.size === 0) return seen
  const moved = new Set<Seen>()
  for (const paid of seen.filter(({ kind }) => kind !== 'transfer').sort(byPlace)) {
    const before = (plain.get(transactionOf(paid)) ?? []).filter(one => one.logIndex < paid.logIndex && !moved.has(one))
    const fee = paid.fee ?? 0n
    const share = before
      .filter(({ merchant, amount }) => merchant === paid.merchant && amount === paid.amount - fee)
      .sort(byPlace)
      .at(-1)
    if (share) moved.add(share)
    const feeAt = (share?.logIndex ?? paid.logIndex - 1) - 1
    const taken = before.find(({ logIndex, amount }) => logIndex === feeAt && amount === fee)
    if (taken) moved.add(taken)
  }
  return seen.filter(one => !isPlain(one) || (!moved.has(one) && one.payer !== one.merchant))
}

const transactionOf = ({ blockHash, txHash }: Place) => `${blockHash} ${txHash}`
