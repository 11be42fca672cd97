import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { type ApiError, invalidField } from '@ponte/contracts'
import { convertIndexedToRgb, decode, encode } from 'fast-png'
import type { Logo } from '../store/merchants'

const SIDE_MAX = 512
const SIGNATURE = '89504e470d0a1a0a'
const HASH_CHARACTERS = 32
/** Chunks that pixels are made of; what others hold is unpacked by no one. */
const PIXEL_CHUNKS = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'])
/** The pixels of the largest picture in four channels, and a byte of each line of each interlaced pass. */
const UNPACKED_BYTES_MAX = SIDE_MAX * SIDE_MAX * 4 + 16 * SIDE_MAX

/**
 * The picture of these bytes and nothing else of them: it is decoded, and its pixels are encoded anew. Throws ApiError `invalid_request` for what is
 * no PNG, or too large.
 */
export function encodeLogo(base64: string): Logo {
  const bytes = Buffer.from(base64, 'base64')
  // Read before anything is unpacked: a small file can claim any size.
  if (bytes.length < 29 || bytes.toString('hex', 0, 8) !== SIGNATURE || bytes.toString('latin1', 12, 16) !== 'IHDR')
    throw refused('is no PNG')
  const [width, height, depth] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20), bytes.readUInt8(24)]
  if (width < 1 || height < 1 || width > SIDE_MAX || height > SIDE_MAX)
    throw refused(`is ${width} by ${height} pixels; 512 by 512 are the most`)
  if (depth !== 8) throw refused('has another depth than 8 bits; save it as an ordinary PNG')
  const png = Buffer.from(pixelsOf(bytes))
  return { hash: createHash('sha256').update(png).digest('hex').slice(0, HASH_CHARACTERS), png }
}

function pixelsOf(bytes: Buffer): Uint8Array {
  try {
    const chunks = chunksOf(bytes).filter(({ type }) => PIXEL_CHUNKS.has(type))
    // The decoder takes each header as it comes, and adds each transparency to the palette: a second one would undo what was judged of the first.
    const single = chunks.map(({ type }) => type).filter(type => type !== 'IDAT')
    if (new Set(single).size < single.length) throw new Error('A part that a PNG has once comes again.')
    // The decoder unpacks whatever is there: a small file can hold a thousand times its size.
    inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)), {
      maxOutputLength: UNPACKED_BYTES_MAX,
    })
    const decoded = decode(Buffer.concat([bytes.subarray(0, 8), ...chunks.map(({ whole }) => whole)]), { checkCrc: true })
    const { width, height, palette } = decoded
    if (palette) return encode({ width, height, depth: 8, channels: palette[0]?.length === 4 ? 4 : 3, data: convertIndexedToRgb(decoded) })
    return encode({ width, height, depth: 8, channels: decoded.channels, data: decoded.data })
  } catch (cause) {
    throw refused('cannot be read as a PNG', cause)
  }
}

function chunksOf(bytes: Buffer): { type: string; data: Buffer; whole: Buffer }[] {
  const chunks = []
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at)
    chunks.push({ type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) })
    at = end
  }
  return chunks
}

function refused(message: string, cause?: unknown): ApiError {
  const error = invalidField('logo', message)
  return cause === undefined ? error : Object.assign(error, { cause })
}
