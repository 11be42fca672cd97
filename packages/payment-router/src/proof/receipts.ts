import { encodeHex, type HexItem } from './hex-rlp'
import { orderedProof, orderedRoot } from './trie'

/** A log as far as a receipt holds it. */
export interface ReceiptLog {
  address: string
  topics: readonly string[]
  data: string
}

/** A receipt as a node sends it, as far as it is hashed or places its logs. */
export interface RawReceipt<Log extends ReceiptLog = ReceiptLog> {
  type?: string
  status?: string
  root?: string
  from?: string
  to?: string | null
  gasUsed?: string
  cumulativeGasUsed: string
  logsBloom: string
  logs: Log[]
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
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** The root of these receipts; undefined when one is of a type that this chain is not known to have. */
export function receiptsRoot(receipts: readonly RawReceipt[], form: ReceiptForm): string | undefined {
  const encoded = encodedReceipts(receipts, form)
  return encoded && orderedRoot(encoded)
}

/** One of these receipts as the trie has it, and the nodes from the root to it. */
export function proofOfReceipt(
  receipts: readonly RawReceipt[],
  index: number,
  form: ReceiptForm,
): { receipt: Uint8Array; nodes: Uint8Array[] } | undefined {
  const encoded = encodedReceipts(receipts, form)
  const receipt = encoded?.[index]
  return encoded && receipt && { receipt, nodes: orderedProof(encoded, index) }
}

function encodedReceipts(receipts: readonly RawReceipt[], form: ReceiptForm): Uint8Array[] | undefined {
  const encoded: Uint8Array[] = []
  for (const receipt of receipts) {
    const type = Number(receipt.type ?? 0)
    if (!STANDARD.includes(type) && !(FORMS[form] as readonly number[]).includes(type)) return undefined
    encoded.push(encodeReceipt(receipt, type))
  }
  return encoded
}

/**
 * The receipts of a block that its root covers: all of them, but for what Polygon's bridge left before PIP-74, at the end and without gas. Undefined when
 * they are not what the root was made of.
 */
export function coveredReceipts<Receipt extends RawReceipt>(
  receipts: readonly Receipt[],
  root: string,
  form: ReceiptForm,
): readonly Receipt[] | undefined {
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
