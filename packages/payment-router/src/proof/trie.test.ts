import { RLP } from '@ethereumjs/rlp'
import { hexlify } from 'ethers'
import { keccakBytes } from '../payment/keccak'
import { orderedProof, orderedRoot } from './trie'

type Item = Uint8Array | Item[]

/** The value at a key, by nothing but the root and these nodes. */
function valueAt(root: string, nodes: readonly Uint8Array[], index: number): Uint8Array | undefined {
  const byHash = new Map(nodes.map(node => [hexlify(keccakBytes(node)), node]))
  const resolve = (item: Item | undefined): Item[] => {
    if (Array.isArray(item)) return item
    const bytes = byHash.get(item ? hexlify(item) : '')
    if (!bytes) throw new Error('a node is missing')
    return RLP.decode(bytes) as unknown as Item[]
  }
  let path = [...RLP.encode(index)].flatMap(byte => [byte >> 4, byte & 15])
  let node = resolve(Buffer.from(root.slice(2), 'hex'))
  for (;;) {
    if (node.length === 17) {
      node = resolve(node[path[0] ?? 0])
      path = path.slice(1)
      continue
    }
    const [key, value] = node as [Uint8Array, Item]
    const flag = (key[0] ?? 0) >> 4
    const own = [...key].flatMap(byte => [byte >> 4, byte & 15]).slice(flag % 2 === 1 ? 1 : 2)
    if (own.some((nibble, at) => nibble !== path[at])) return undefined
    if (flag >= 2) return own.length === path.length ? (value as Uint8Array) : undefined
    path = path.slice(own.length)
    node = resolve(value)
  }
}

describe.each([1, 2, 16, 17, 128, 129, 257, 300])('the trie of %i values', count => {
  it.each([1, 40, 600])('proves each of them by its nodes alone, with values of %i bytes', length => {
    const values = Array.from({ length: count }, (_, index) => Uint8Array.from({ length }, (_none, at) => (index * 7 + at) % 251))
    const root = orderedRoot(values)
    for (const index of new Set([0, 1, 15, 16, 127, 128, 255, 256, count - 1].filter(one => one < count))) {
      const nodes = orderedProof(values, index)
      expect(hexlify(keccakBytes(nodes[0] ?? new Uint8Array()))).toBe(root)
      expect(valueAt(root, nodes, index)).toEqual(values[index])
      expect(nodes.length).toBeLessThan(7)
    }
  })
})
