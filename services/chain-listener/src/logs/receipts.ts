import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import type { RawLog } from '../rpc/raw-log'
import { type SeenLogs, toSeenLogs, type Watch } from './filter'
import { encodeHex, type HexItem } from './hex-rlp'
import { MalformedLogError } from './payment-received'
import { TRANSFER_TOPIC, topicOf } from './transfer'
import { orderedRoot } from './trie'

/** A receipt as a node sends it, as far as it is hashed or places its logs. */
export interface RawReceipt {
  type?: string
  status?: string
  root?: string
  from?: string
  to?: string | null
  gasUsed?: string
  cumulativeGasUsed: string
  logsBloom: string
  logs: RawLog[]
  transactionHash: string
  transactionIndex: string
  blockHash?: string
  /** Of a deposit transaction of the OP stack. */
  depositNonce?: string
  depositReceiptVersion?: string
}

/** The types of receipts that chains have beside Ethereum's, by their form. */
const FORMS = {
  ethereum: [],
  op: [0x7e],
  arbitrum: [0x64, 0x65, 0x66, 0x68, 0x69, 0x6a, 0x78],
  /** The bridge's, since PIP-74 under the root like any other. */
  polygon: [0x7f],
} as const satisfies Record<string, readonly number[]>
export type ReceiptForm = keyof typeof FORMS

const STANDARD: readonly number[] = [0, 1, 2, 3, 4]
const OP_DEPOSIT = 0x7e
const WORD = /^0x[0-9a-f]{64}$/
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

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

/** The root of these receipts; undefined when one is of a type that this chain is not known to have. */
export function receiptsRoot(receipts: readonly RawReceipt[], form: ReceiptForm): string | undefined {
  const encoded: Uint8Array[] = []
  for (const receipt of receipts) {
    const type = Number(receipt.type ?? 0)
    if (!STANDARD.includes(type) && !(FORMS[form] as readonly number[]).includes(type)) return undefined
    encoded.push(encodeReceipt(receipt, type))
  }
  return orderedRoot(encoded)
}

/**
 * The receipts of a block that its root covers: all of them, but for what Polygon's bridge left before PIP-74, at the end and without gas. Undefined when
 * they are not what the root was made of.
 */
export function coveredReceipts(receipts: readonly RawReceipt[], root: string, form: ReceiptForm): readonly RawReceipt[] | undefined {
  if (receiptsRoot(receipts, form) === root) return receipts
  const last = receipts.at(-1)
  const isOfBridge = last?.from === ZERO_ADDRESS && last.to === ZERO_ADDRESS && Number(last.gasUsed) === 0
  const others = receipts.slice(0, -1)
  return form === 'polygon' && isOfBridge && receiptsRoot(others, form) === root ? others : undefined
}

function encodeReceipt(receipt: RawReceipt, type: number): Uint8Array {
  const outcome = receipt.status === undefined ? (receipt.root ?? '0x') : digitsOf(receipt.status)
  const logs = receipt.logs.map(({ address, topics, data }): HexItem => [address, topics, data])
  const fields: HexItem[] = [outcome, digitsOf(receipt.cumulativeGasUsed), receipt.logsBloom, logs]
  // Before version 1 the root left the nonce out.
  if (type === OP_DEPOSIT && receipt.depositReceiptVersion !== undefined)
    fields.push(digitsOf(receipt.depositNonce ?? '0x0'), digitsOf(receipt.depositReceiptVersion))
  return encodeHex(fields, type === 0 ? [] : [type])
}

/** A number as RLP has it, still in hex. */
function digitsOf(quantity: string): string {
  const digits = quantity.slice(2).replace(/^0+/, '')
  return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`
}

/** A block as its header names it. */
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
