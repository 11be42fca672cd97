import { keccak_256 } from '@noble/hashes/sha3'
import { decodeRlp, encodeIndex, type RlpItem } from './rlp'

export interface ReceiptProof {
  header: string
  receipt_index: number
  receipt: string
  nodes: readonly string[]
  first_log_index: number
}

/** A log of a receipt; everything in lower-case hex. */
export interface ProvenLog {
  address: string
  topics: readonly string[]
  data: string
}

/** Facts that the hash of a block proves. */
export interface ProvenReceipt {
  number: number
  /** Unix seconds. */
  time: number
  logs: readonly ProvenLog[]
}

export const hexOf = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`
export function bytesOf(hex: string): Uint8Array {
  if (!/^0x([0-9a-f]{2})*$/.test(hex)) throw new Error('not bytes in hex')
  return Buffer.from(hex.slice(2), 'hex')
}
export const keccak = (bytes: Uint8Array): string => hexOf(keccak_256(bytes))

// Of a header's fields, the same on every supported chain.
const [RECEIPTS_ROOT, NUMBER, TIMESTAMP] = [5, 8, 11]

/** The receipt that stands under the root in the header that hashes to this block. Throws where the proof is none. */
export function provenReceipt(proof: ReceiptProof, blockHash: string): ProvenReceipt {
  const header = bytesOf(proof.header)
  if (keccak(header) !== blockHash) throw new Error('the header does not hash to the block')
  const fields = listOf(decodeRlp(header))
  const receipt = bytesOf(proof.receipt)
  if (!Number.isSafeInteger(proof.receipt_index) || proof.receipt_index < 0) throw new Error('the index of the receipt is none')
  const value = valueUnder(bytesIn(fields[RECEIPTS_ROOT]), proof.nodes.map(bytesOf), proof.receipt_index)
  if (Buffer.compare(value, receipt) !== 0) throw new Error('the trie has another receipt there')
  return { number: numberIn(fields[NUMBER]), time: numberIn(fields[TIMESTAMP]), logs: logsIn(receipt) }
}

/** Walks from the root down; each node is used, in its order, and none is left. */
function valueUnder(root: Uint8Array, nodes: readonly Uint8Array[], index: number): Uint8Array {
  let path = encodeIndex(index).flatMap(byte => [byte >> 4, byte & 15])
  let used = 0
  const open = (reference: RlpItem | undefined): RlpItem[] => {
    if (Array.isArray(reference)) return reference
    const node = nodes[used++]
    if (!node || !reference || keccak(node) !== hexOf(reference)) throw new Error('a node of the trie does not hash to its place')
    return listOf(decodeRlp(node))
  }
  let node = open(root)
  for (;;) {
    if (node.length === 17) {
      const nibble = path[0]
      if (nibble === undefined) throw new Error('the path ends at a branch')
      path = path.slice(1)
      node = open(node[nibble])
      continue
    }
    if (node.length !== 2) throw new Error('a node of the trie is malformed')
    const key = bytesIn(node[0])
    const nibbles = [...key].flatMap(byte => [byte >> 4, byte & 15])
    const flag = nibbles[0] ?? 0
    const own = nibbles.slice(flag % 2 === 1 ? 1 : 2)
    if (flag > 3 || own.some((nibble, at) => nibble !== path[at])) throw new Error('the trie has nothing there')
    path = path.slice(own.length)
    if (flag < 2) {
      node = open(node[1])
      continue
    }
    if (path.length > 0 || used !== nodes.length) throw new Error('the proof has other nodes than its path')
    return bytesIn(node[1])
  }
}

function logsIn(receipt: Uint8Array): ProvenLog[] {
  const type = receipt[0] ?? 0
  const fields = listOf(decodeRlp(type < 0xc0 ? receipt.subarray(1) : receipt))
  const outcome = bytesIn(fields[0])
  // Before Byzantium a state root stood there, and a transaction that failed had no logs.
  if (outcome.length !== 32 && (outcome.length !== 1 || outcome[0] !== 1)) throw new Error('the transaction failed')
  return listOf(fields[3]).map(log => {
    const [address, topics, data] = listOf(log)
    return { address: hexOf(bytesIn(address)), topics: listOf(topics).map(topic => hexOf(bytesIn(topic))), data: hexOf(bytesIn(data)) }
  })
}

function listOf(item: RlpItem | undefined): RlpItem[] {
  if (!Array.isArray(item)) throw new Error('RLP has bytes where a list is due')
  return item
}
function bytesIn(item: RlpItem | undefined): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new Error('RLP has a list where bytes are due')
  return item
}
function numberIn(item: RlpItem | undefined): number {
  const bytes = bytesIn(item)
  if (bytes.length > 6) throw new Error('a number of the header is too large')
  return Buffer.from(bytes).reduce((sum, byte) => sum * 256 + byte, 0)
}
