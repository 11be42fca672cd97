import { id } from 'ethers'
import type { RawLog } from '../rpc/raw-log'
import { toNumber } from './payment-received'
import { TRANSFER_TOPIC, topicOf } from './transfer'

export const USED_TOPIC = id('AuthorizationUsed(address,bytes32)')
export const CANCELLED_TOPIC = id('AuthorizationCanceled(address,bytes32)')

/** What a nonce is to move. Addresses are lower-case. */
export interface ReturnTerms {
  fromAddress: string
  payee: string
  units: bigint
  nonce: string
}

/** How a nonce ended, and where. `cancelled` is also one that was used to move something else: it moves nothing any more. */
export interface NonceEnd {
  kind: 'transferred' | 'cancelled'
  txHash: string
  logIndex: number
  blockNumber: number
  blockHash: string
}

/** The logs by which the token says that it used or cancelled the nonce. */
export const endTopics = ({ fromAddress, nonce }: ReturnTerms) => [[USED_TOPIC, CANCELLED_TOPIC], topicOf(fromAddress), nonce]

/** The log of the end among a node's logs; undefined where there is not exactly one. */
export function endLog(logs: readonly RawLog[], { fromAddress, nonce }: ReturnTerms, token: string): RawLog | undefined {
  const own = logs.filter(
    ({ address, topics }) =>
      address.toLowerCase() === token &&
      (topics[0] === USED_TOPIC || topics[0] === CANCELLED_TOPIC) &&
      topics[1] === topicOf(fromAddress) &&
      topics[2] === nonce,
  )
  return own.length === 1 ? own[0] : undefined
}

/**
 * The end, by the logs of its block: the token writes the transfer right behind the use. The wallet may have signed another transfer with the same nonce, so the use
 * alone does not show that the payee was paid.
 */
export function toNonceEnd(end: RawLog, transfers: readonly RawLog[], { fromAddress, payee, units }: ReturnTerms): NonceEnd {
  const logIndex = toNumber(end.logIndex)
  const isPaid = transfers.some(
    ({ address, topics, data, transactionHash, logIndex: index }) =>
      address.toLowerCase() === end.address.toLowerCase() &&
      topics[0] === TRANSFER_TOPIC &&
      topics[1] === topicOf(fromAddress) &&
      topics[2] === topicOf(payee) &&
      transactionHash === end.transactionHash &&
      toNumber(index) === logIndex + 1 &&
      BigInt(data) === units,
  )
  return {
    kind: end.topics[0] === USED_TOPIC && isPaid ? 'transferred' : 'cancelled',
    txHash: end.transactionHash,
    logIndex,
    blockNumber: toNumber(end.blockNumber),
    blockHash: end.blockHash,
  }
}
