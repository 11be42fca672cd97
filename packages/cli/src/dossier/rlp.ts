export type RlpItem = Uint8Array | RlpItem[]

/** RLP as it is hashed, strictly: one value has one encoding. Throws on anything else. */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  const { item, end } = decodeAt(bytes, 0, 0)
  if (end !== bytes.length) throw new Error('RLP has bytes behind its end')
  return item
}

const DEPTH_MAX = 16

function decodeAt(bytes: Uint8Array, start: number, depth: number): { item: RlpItem; end: number } {
  const first = bytes[start]
  if (first === undefined || depth > DEPTH_MAX) throw new Error('RLP breaks off')
  if (first < 0x80) return { item: bytes.subarray(start, start + 1), end: start + 1 }
  const isList = first >= 0xc0
  const short = first - (isList ? 0xc0 : 0x80)
  const { length, at } = short <= 55 ? { length: short, at: start + 1 } : lengthAt(bytes, start + 1, short - 55)
  const end = at + length
  if (end > bytes.length) throw new Error('RLP breaks off')
  if (!isList) {
    if (length === 1 && (bytes[at] ?? 0) < 0x80) throw new Error('RLP has a byte with a needless length')
    return { item: bytes.subarray(at, end), end }
  }
  const items: RlpItem[] = []
  for (let next = at; next < end; ) {
    const one = decodeAt(bytes, next, depth + 1)
    if (one.end > end) throw new Error('RLP has an item beyond its list')
    items.push(one.item)
    next = one.end
  }
  return { item: items, end }
}

function lengthAt(bytes: Uint8Array, start: number, size: number): { length: number; at: number } {
  let length = 0
  for (let at = start; at < start + size; at++) length = length * 256 + (bytes[at] ?? 0)
  if (size > 6 || bytes[start] === 0 || length < 56) throw new Error('RLP has a needless length')
  return { length, at: start + size }
}

/** The encoding of a small whole number. */
export function encodeIndex(index: number): number[] {
  if (index === 0) return [0x80]
  if (index < 0x80) return [index]
  const digits: number[] = []
  for (let rest = index; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256)
  return [0x80 + digits.length, ...digits]
}
