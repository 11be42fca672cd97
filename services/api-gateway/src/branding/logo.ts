import { createHash } from 'node:crypto'
import { ApiError } from '@ponte/contracts'
import { convertIndexedToRgb, decode, encode } from 'fast-png'
import type { Logo } from '../store/merchants'

const SIDE_MAX = 512
const SIGNATURE = '89504e470d0a1a0a'
const HASH_CHARACTERS = 32

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
    const decoded = decode(bytes, { checkCrc: true })
    const { width, height, palette } = decoded
    if (palette) return encode({ width, height, depth: 8, channels: palette[0]?.length === 4 ? 4 : 3, data: convertIndexedToRgb(decoded) })
    return encode({ width, height, depth: 8, channels: decoded.channels, data: decoded.data })
  } catch (cause) {
    throw refused('cannot be read as a PNG', cause)
  }
}

function refused(message: string, cause?: unknown): ApiError {
  const error = new ApiError('invalid_request', `The body is not valid: logo ${message}.`, { errors: [{ path: 'logo', message }] })
  return cause === undefined ? error : Object.assign(error, { cause })
}
