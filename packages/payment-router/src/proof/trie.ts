import { RLP } from '@ethereumjs/rlp'
import { hexlify } from 'ethers'
import { keccakBytes } from '../payment/keccak'

type Item = Uint8Array | Item[]

interface Entry {
  /** The key, a nibble in each byte. */
  path: Uint8Array
  value: Uint8Array
}

const NOTHING = new Uint8Array()

/**
 * The root of the trie whose keys are the places of these values, as blocks have it. All of them are known at once, so each node is made and hashed once,
 * which costs a fraction of putting them into a trie one after the other.
 */
export function orderedRoot(values: readonly Uint8Array[]): string {
  const entries = entriesOf(values)
  return hexlify(keccakBytes(RLP.encode(entries.length === 0 ? NOTHING : nodeOf(entries, 0))))
}

/** The nodes between the root of these values and one of them, from the root on: what hashes prove that it stands there. */
export function orderedProof(values: readonly Uint8Array[], index: number): Uint8Array[] {
  const nodes: Uint8Array[] = []
  const path = pathOf(index)
  let [entries, depth] = [entriesOf(values), 0]
  for (;;) {
    const node = RLP.encode(nodeOf(entries, depth))
    // A short one stands in the node above it; the root never does.
    if (nodes.length === 0 || node.length >= 32) nodes.push(node)
    if (entries.length <= 1) return nodes
    const end = commonEnd(entries, depth)
    if (end === depth) entries = entries.filter(one => one.path[depth] === path[depth])
    depth = end === depth ? depth + 1 : end
  }
}

function entriesOf(values: readonly Uint8Array[]): Entry[] {
  const entries = values.map((value, index): Entry => ({ path: pathOf(index), value }))
  return entries.sort((a, b) => Buffer.compare(a.path, b.path))
}

/** They are sorted: what the first and the last have in common, all have. */
function commonEnd(entries: readonly Entry[], depth: number): number {
  const [first, last] = [entries[0], entries.at(-1)]
  let end = depth
  while (first && last && end < first.path.length && first.path[end] === last.path[end]) end += 1
  return end
}

function nodeOf(entries: readonly Entry[], depth: number): Item[] {
  const first = entries[0]
  if (!first) return []
  if (entries.length === 1) return [compact(first.path.subarray(depth), true), first.value]
  const end = commonEnd(entries, depth)
  if (end > depth) return [compact(first.path.subarray(depth, end), false), referenceTo(nodeOf(entries, end))]
  const children = Array.from({ length: 16 }, (_, nibble) => {
    const below = entries.filter(({ path }) => path[depth] === nibble)
    return below.length > 0 ? referenceTo(nodeOf(below, depth + 1)) : NOTHING
  })
  // No key is the beginning of another one, so that no value lies at a branch.
  return [...children, NOTHING]
}

/** A node by its hash, or itself where that is shorter. */
function referenceTo(node: Item[]): Item {
  const encoded = RLP.encode(node)
  return encoded.length < 32 ? node : keccakBytes(encoded)
}

/** The same in every block. */
const paths: Uint8Array[] = []
function pathOf(index: number): Uint8Array {
  const known = paths[index]
  if (known) return known
  const path = Uint8Array.from([...RLP.encode(index)].flatMap(byte => [byte >> 4, byte & 15]))
  paths[index] = path
  return path
}

/** Nibbles in bytes, behind a flag for an odd number of them and for the end of a key. */
function compact(path: Uint8Array, isLeaf: boolean): Uint8Array {
  const isOdd = path.length % 2 === 1
  const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0)
  const all = isOdd ? [flag, ...path] : [flag, 0, ...path]
  return Uint8Array.from({ length: all.length / 2 }, (_, index) => ((all[index * 2] ?? 0) << 4) | (all[index * 2 + 1] ?? 0))
}
