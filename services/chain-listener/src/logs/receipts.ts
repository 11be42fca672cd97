import { createMPT } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { hexlify } from 'ethers'
import type { RawLog } from '../rpc/raw-log'
import { type SeenLogs, toSeenLogs, type Watch } from './filter'
import { hexBytes, quantityBytes } from './header'
import { MalformedLogError } from './payment-received'
import { TRANSFER_TOPIC, topicOf } from './transfer'

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

const STANDARD = [0, 1, 2, 3, 4]
/** Arbitrum's own transactions leave receipts of the usual form. */
const ARBITRUM = [0x64, 0x65, 0x66, 0x68, 0x69, 0x6a, 0x78]
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

/** The root of the trie of these receipts; undefined when one is of a type whose form is not known here. */
export async function receiptsRoot(receipts: readonly RawReceipt[]): Promise<string | undefined> {
  const trie = await createMPT()
  for (const [index, receipt] of receipts.entries()) {
    const encoded = encodeReceipt(receipt)
    if (!encoded) return undefined
    await trie.put(RLP.encode(index), encoded)
  }
  return hexlify(trie.root())
}

/** Polygon's bridge leaves receipts that no root of their block covers. */
export const hasUncoveredReceipt = (receipts: readonly RawReceipt[]): boolean =>
  receipts.some(({ from, to, gasUsed }) => from === ZERO_ADDRESS && to === ZERO_ADDRESS && Number(gasUsed) === 0)

function encodeReceipt(receipt: RawReceipt): Uint8Array | undefined {
  const type = Number(receipt.type ?? 0)
  if (![...STANDARD, ...ARBITRUM, OP_DEPOSIT].includes(type)) return undefined
  const outcome = receipt.status === undefined ? hexBytes(receipt.root ?? '0x') : quantityBytes(receipt.status)
  const logs = receipt.logs.map(({ address, topics, data }) => [hexBytes(address), topics.map(hexBytes), hexBytes(data)])
  const fields: Parameters<typeof RLP.encode>[0][] = [outcome, quantityBytes(receipt.cumulativeGasUsed), hexBytes(receipt.logsBloom), logs]
  // Before version 1 the root left the nonce out.
  if (type === OP_DEPOSIT && receipt.depositReceiptVersion !== undefined)
    fields.push(quantityBytes(receipt.depositNonce ?? '0x0'), quantityBytes(receipt.depositReceiptVersion))
  const encoded = RLP.encode(fields)
  return type === 0 ? encoded : Buffer.concat([Buffer.from([type]), encoded])
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
  let logIndex = firstLogIndex
  for (const { logs, transactionHash } of receipts) {
    for (const { address, topics, data } of logs) {
      const place = {
        blockHash: block.hash,
        blockNumber: hex(block.number),
        blockTimestamp: hex(block.time),
        transactionHash,
        logIndex: hex(logIndex++),
      }
      const log: RawLog = { address, topics, data, ...place }
      if (isPaymentReceived(log, watch)) fromRouters.push(log)
      else if (isTransfer(log, watch)) fromToken.push(log)
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
