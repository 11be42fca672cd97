import { PAYMENT_RECEIVED_TOPIC, type RawReceipt as Receipt } from '@ponte/payment-router'
import type { RawLog } from '../rpc/raw-log'
import { type SeenLogs, toSeenLogs, type Watch } from './filter'
import { MalformedLogError } from './payment-received'
import { TRANSFER_TOPIC, topicOf } from './transfer'

/** A receipt as a node sends it, as far as it is hashed or places its logs. */
export type RawReceipt = Receipt<RawLog>

const WORD = /^0x[0-9a-f]{64}$/

/** Throws MalformedLogError on what is no list of receipts. */
export function toReceipts(value: unknown): RawReceipt[] {
  if (!Array.isArray(value)) throw new MalformedLogError('the node sent no list of receipts')
  for (const one of value) {
    const { logs, transactionHash, cumulativeGasUsed, logsBloom } = Object(one) as Partial<RawReceipt>
    if (
      !Array.isArray(logs) ||
      !WORD.test(String(transactionHash)) ||
      typeof cumulativeGasUsed !== 'string' ||
      typeof logsBloom !== 'string'
    )
      throw new MalformedLogError('the node sent a malformed receipt')
  }
  return value as RawReceipt[]
}

export interface ProvenBlock {
  number: number
  hash: string
  time: number
}

/**
 * What is watched in a block's receipts, as answers to `logsCalls`. Number, hash and time are the header's; a log's index is its place among all,
 * of which `firstLogIndex` stand in receipts before these, which is what the root covers, whatever the node calls it.
 */
export function answersOfReceipts(receipts: readonly RawReceipt[], block: ProvenBlock, watch: Watch, firstLogIndex = 0): RawLog[][] {
  const fromRouters: RawLog[] = []
  const fromToken: RawLog[] = []
  const place = { blockHash: block.hash, blockNumber: hex(block.number), blockTimestamp: hex(block.time) }
  let logIndex = firstLogIndex
  for (const { logs, transactionHash } of receipts) {
    for (const log of logs) {
      const index = logIndex++
      const those = isPaymentReceived(log, watch) ? fromRouters : isTransfer(log, watch) ? fromToken : undefined
      const { address, topics, data } = log
      those?.push({ address, topics, data, transactionHash, logIndex: hex(index), ...place })
    }
  }
  return [...(watch.routers.length > 0 ? [fromRouters] : []), ...(watch.transfers === 'none' ? [] : [fromToken])]
}

export const logsOfReceipts = (receipts: readonly RawReceipt[], block: ProvenBlock, watch: Watch): SeenLogs =>
  toSeenLogs(answersOfReceipts(receipts, block, watch), watch)

const hex = (number: number) => `0x${number.toString(16)}`
const isPaymentReceived = ({ address, topics }: RawLog, { routers }: Watch) =>
  topics[0] === PAYMENT_RECEIVED_TOPIC && routers.includes(address.toLowerCase())

function isTransfer({ address, topics }: RawLog, { token, transfers }: Watch): boolean {
  if (transfers === 'none' || topics[0] !== TRANSFER_TOPIC || address.toLowerCase() !== token) return false
  return transfers === 'all' || transfers.some(recipient => topicOf(recipient) === topics[2])
}
