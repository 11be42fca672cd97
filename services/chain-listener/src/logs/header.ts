import { RLP } from '@ethereumjs/rlp'
import { keccak256 } from 'ethers'

/** The fields of a header in the order in which they are hashed; from the base fee on, each came with a later fork. */
const FIELDS = [
  ['parentHash', 'bytes'],
  ['sha3Uncles', 'bytes'],
  ['miner', 'bytes'],
  ['stateRoot', 'bytes'],
  ['transactionsRoot', 'bytes'],
  ['receiptsRoot', 'bytes'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'bytes'],
  ['mixHash', 'bytes'],
  ['nonce', 'bytes'],
  ['baseFeePerGas', 'quantity'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 'bytes'],
  ['requestsHash', 'bytes'],
] as const
const REQUIRED = FIELDS.findIndex(([name]) => name === 'baseFeePerGas')
/** What nodes send beside a header, which no hash covers. */
const BESIDE = ['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals', 'l1BlockNumber', 'sendCount', 'sendRoot']
const KNOWN = new Set<string>([...FIELDS.map(([name]) => name), ...BESIDE])
const HEX = /^0x[0-9a-fA-F]*$/

/** How headers are judged. */
export interface HeaderRules {
  chainId: number
  /** A header must hash to the hash that it names, where it is known how it is hashed. */
  sealed: boolean
  /** The latest time, in Unix seconds, that a header may have now. */
  latestTime(): number
}

/**
 * Whether a header hashes to the hash that it names. `unknown`: it has fields that this chain adds or a fork brought, or lacks some, and how it is
 * hashed is not known here.
 */
export type Seal = 'sealed' | 'broken' | 'unknown'

export function sealOf(header: Record<string, unknown>): Seal {
  const encoded = encodeHeader(header)
  if (encoded && keccak256(encoded) === header.hash) return 'sealed'
  const isKnown = Object.keys(header).every(name => KNOWN.has(name) || header[name] === null || header[name] === undefined)
  return encoded && isKnown ? 'broken' : 'unknown'
}

function encodeHeader(header: Record<string, unknown>): Uint8Array | undefined {
  const fields: Uint8Array[] = []
  for (const [index, [name, kind]] of FIELDS.entries()) {
    const value = header[name]
    // Fields are added at the end only: nothing follows the first that is missing.
    if (value === undefined || value === null) return index < REQUIRED ? undefined : RLP.encode(fields)
    if (typeof value !== 'string' || !HEX.test(value)) return undefined
    fields.push(kind === 'quantity' ? quantityBytes(value) : hexBytes(value))
  }
  return RLP.encode(fields)
}

export const hexBytes = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex')

/** A number as RLP has it: big-endian, without leading zeros. */
export function quantityBytes(quantity: string): Uint8Array {
  const digits = quantity.slice(2).replace(/^0+/, '')
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}
