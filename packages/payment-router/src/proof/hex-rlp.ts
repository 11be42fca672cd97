/** Bytes in hex with 0x, or a list of such. */
export type HexItem = string | readonly HexItem[]

/**
 * RLP of what nodes send in hex, written into one buffer behind some bytes. A general encoder, which makes and joins an array for each item, takes several
 * times as long, and every receipt of a block with a payment is encoded.
 */
export function encodeHex(item: HexItem, before: readonly number[] = []): Uint8Array {
  const out = Buffer.alloc(before.length + sizeOf(item))
  out.set(before)
  write(out, before.length, item)
  return out
}

const bytesIn = (hex: string) => (hex.length - 2) >> 1
const isItself = (hex: string) => hex.length === 4 && Number(hex) < 0x80
const contentOf = (items: readonly HexItem[]) => items.reduce<number>((sum, item) => sum + sizeOf(item), 0)
const headSize = (length: number) => (length < 56 ? 1 : 1 + bytesOf(length))

function sizeOf(item: HexItem): number {
  if (typeof item === 'string' && isItself(item)) return 1
  const length = typeof item === 'string' ? bytesIn(item) : contentOf(item)
  return headSize(length) + length
}

function bytesOf(length: number): number {
  let bytes = 1
  while (length >= 2 ** (8 * bytes)) bytes += 1
  return bytes
}

/** Answers where it ends. */
function write(out: Buffer, start: number, item: HexItem): number {
  if (typeof item !== 'string') return item.reduce<number>((at, part) => write(out, at, part), writeHead(out, start, 0xc0, contentOf(item)))
  const length = bytesIn(item)
  const at = isItself(item) ? start : writeHead(out, start, 0x80, length)
  out.write(item.slice(2), at, 'hex')
  return at + length
}

function writeHead(out: Buffer, at: number, offset: number, length: number): number {
  if (length < 56) {
    out[at] = offset + length
    return at + 1
  }
  const bytes = bytesOf(length)
  out[at] = offset + 55 + bytes
  out.writeUIntBE(length, at + 1, bytes)
  return at + 1 + bytes
}
