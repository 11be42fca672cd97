import { id } from 'ethers'
import type { RawLog } from '../rpc/raw-log'
import { MalformedLogError, type Place, placeOf, type SeenPayment } from './payment-received'

export const TRANSFER_TOPIC = id('Transfer(address,address,uint256)')

/** A deposit address and the terms a transfer to it pays. Lower-case. */
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

/** An address as a topic. */
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

/** The transfers that pay one of these deposit addresses. One of nothing pays nothing. */
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
