import { RLP } from '@ethereumjs/rlp'
import { hexBytes, keccakBytes, quantityBytes, receiptsRoot } from '@ponte/payment-router'
import { hexlify } from 'ethers'
import { bloomBits } from '../src/logs/bloom'
import type { RawReceipt } from '../src/logs/receipts'
import type { RawLog } from '../src/rpc/raw-log'

export interface Transaction {
  hash: string
  logs: Pick<RawLog, 'address' | 'topics' | 'data'>[]
}

export const hex = (value: number) => `0x${value.toString(16)}`
export const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

const ACCOUNT = `0x${'b0'.repeat(20)}`
const GAS_EACH = 90_000

const known = new Map<string, number[]>()
function bitsOf(item: string): number[] {
  const bits = known.get(item) ?? bloomBits(item)
  known.set(item, bits)
  return bits
}

/** Of contracts and events alone: nothing else is looked for in a bloom. */
function bloomOf(transactions: readonly Transaction[]): string {
  const bytes = new Uint8Array(256)
  for (const { address, topics } of transactions.flatMap(({ logs }) => logs))
    for (const bit of [address, topics[0] ?? ''].flatMap(bitsOf))
      bytes[255 - (bit >> 3)] = (bytes[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7))
  return hexlify(bytes)
}

/** A block as a node shows it: a header that hashes to its hash, and the receipts that hash to the root in it. */
export function sealedBlock(place: { number: number; parentHash: string; time: number }, transactions: readonly Transaction[]) {
  const logsBloom = bloomOf(transactions)
  let logIndex = 0
  const inBlock = { blockNumber: hex(place.number), blockTimestamp: hex(place.time), removed: false }
  const receipts = transactions.map(
    ({ hash, logs }, index): RawReceipt => ({
      ...{ type: '0x2', status: '0x1', cumulativeGasUsed: hex(GAS_EACH * (index + 1)), gasUsed: hex(GAS_EACH), logsBloom },
      ...{ transactionHash: hash, transactionIndex: hex(index), from: ACCOUNT, to: ACCOUNT, blockHash: '' },
      logs: logs.map(log => ({ ...log, ...inBlock, blockHash: '', transactionHash: hash, logIndex: hex(logIndex++) })),
    }),
  )
  const header = {
    ...{ parentHash: place.parentHash, sha3Uncles: word(2), miner: ACCOUNT, stateRoot: word(3), transactionsRoot: word(4) },
    ...{ receiptsRoot: String(receiptsRoot(receipts, 'ethereum')), logsBloom, difficulty: '0x0', number: hex(place.number) },
    ...{ gasLimit: '0x1c9c380', gasUsed: hex(GAS_EACH * transactions.length), timestamp: hex(place.time), extraData: '0x' },
    ...{ mixHash: word(5), nonce: '0x0000000000000000', baseFeePerGas: '0x7' },
  }
  const quantities = ['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas']
  const fields = Object.entries(header).map(([name, value]) => (quantities.includes(name) ? quantityBytes(value) : hexBytes(value)))
  const hash = hexlify(keccakBytes(RLP.encode(fields)))
  for (const receipt of receipts) {
    receipt.blockHash = hash
    for (const log of receipt.logs) log.blockHash = hash
  }
  return { header: { ...header, hash, transactions: transactions.map(one => one.hash) }, receipts }
}
