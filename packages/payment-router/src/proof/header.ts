import { RLP } from '@ethereumjs/rlp'
import { hexlify } from 'ethers'
import { keccakBytes } from '../payment/keccak'

type FieldKind = 'bytes' | 'quantity'
type Field = readonly [name: string, kind: FieldKind]

/** The fields of every header, in the order in which they are hashed. */
const FIRST: readonly Field[] = [
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
]
const LATER = {
  /** Ethereum, and the chains above it that kept its header: OP stack, Arbitrum, Polygon. */
  ethereum: [
    ['baseFeePerGas', 'quantity'],
    ['withdrawalsRoot', 'bytes'],
    ['blobGasUsed', 'quantity'],
    ['excessBlobGas', 'quantity'],
    ['parentBeaconBlockRoot', 'bytes'],
    ['requestsHash', 'bytes'],
  ],
  /** The C-Chain, as `HeaderSerializable` of ava-labs/coreth has it. */
  avalanche: [
    ['extDataHash', 'bytes'],
    ['baseFeePerGas', 'quantity'],
    ['extDataGasUsed', 'quantity'],
    ['blockGasCost', 'quantity'],
    ['blobGasUsed', 'quantity'],
    ['excessBlobGas', 'quantity'],
    ['parentBeaconBlockRoot', 'bytes'],
    ['timestampMilliseconds', 'quantity'],
    ['minDelayExcess', 'quantity'],
  ],
} as const satisfies Record<string, readonly Field[]>
export type HeaderForm = keyof typeof LATER

/** Sent by nodes beside a header, and covered by no hash. */
const BESIDE = new Set([
  'hash',
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
  'l1BlockNumber',
  'sendCount',
  'sendRoot',
])
/** A block without requests of the execution layer: some nodes leave the field out. */
const NO_REQUESTS = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const HEX = /^0x[0-9a-fA-F]*$/

/**
 * The RLP that hashes to the hash which a header names; undefined where there is none. The fields of the form come first. Whatever else the node sends is
 * no matter of its hash, unless it is what a later fork has added: then the header is tried with it, because nothing but the true fields in the true order
 * hashes to that hash.
 */
export function sealedHeader(header: Record<string, unknown>, form: HeaderForm): Uint8Array | undefined {
  const fields = [...FIRST, ...LATER[form]]
  const known = encoded(header, fields)
  if (known === undefined) return undefined
  const sealed = (more: readonly Uint8Array[]): Uint8Array | undefined => {
    const bytes = RLP.encode([...known, ...more])
    return hexlify(keccakBytes(bytes)) === header.hash ? bytes : undefined
  }
  const plain = sealed([])
  if (plain) return plain
  const isWhole = known.length === fields.length
  const quiet = !isWhole && form === 'ethereum' && known.length === fields.length - 1 ? sealed([hexBytes(NO_REQUESTS)]) : undefined
  if (quiet) return quiet
  for (const more of additions(header, fields)) {
    const found = sealed(more)
    if (found) return found
  }
  return undefined
}

export const isSealed = (header: Record<string, unknown>, form: HeaderForm): boolean => sealedHeader(header, form) !== undefined

/** The fields' values up to the first that is missing: none follows it. Undefined when one that every header has is missing or malformed. */
function encoded(header: Record<string, unknown>, fields: readonly Field[]): Uint8Array[] | undefined {
  const values: Uint8Array[] = []
  for (const [index, [name, kind]] of fields.entries()) {
    const value = header[name]
    if (value === undefined || value === null) return index < FIRST.length ? undefined : values
    if (typeof value !== 'string' || !HEX.test(value)) return undefined
    values.push(bytesOf(value, kind))
  }
  return values
}

/** A fork adds few fields at once. */
const ADDED_MAX = 3

/** Fields that a fork not known here may have added, in the order in which the node sends them: each a number or bytes, as its length suggests. */
function additions(header: Record<string, unknown>, fields: readonly Field[]): Uint8Array[][] {
  const known = new Set([...fields.map(([name]) => name), ...BESIDE])
  const unknown = Object.entries(header).flatMap(([name, value]) =>
    !known.has(name) && typeof value === 'string' && HEX.test(value) ? [bytesOf(value, value.length >= 42 ? 'bytes' : 'quantity')] : [],
  )
  if (unknown.length === 0 || unknown.length > ADDED_MAX) return []
  const orders = (left: readonly Uint8Array[]): Uint8Array[][] =>
    left.flatMap((value, index) => [[value], ...orders(left.filter((_, other) => other !== index)).map(rest => [value, ...rest])])
  return orders(unknown)
}

const bytesOf = (value: string, kind: FieldKind) => (kind === 'quantity' ? quantityBytes(value) : hexBytes(value))

export const hexBytes = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex')

/** A number as RLP has it: big-endian, without leading zeros. */
export function quantityBytes(quantity: string): Uint8Array {
  const digits = quantity.slice(2).replace(/^0+/, '')
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}
