import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

// RFC 6238 with what every authenticator app takes: SHA-1, six digits, half a minute.
const PERIOD_S = 30
const DIGITS = 6
const SECRET_BYTES = 20
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

const bitsOf = (bytes: Uint8Array) => [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
const base32 = (bytes: Uint8Array) => (bitsOf(bytes).match(/.{5}/g) ?? []).map(bits => ALPHABET[Number.parseInt(bits, 2)]).join('')
const bytesOf = (secret: string) => {
  const bits = [...secret].map(letter => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
}

/** A new secret, as an authenticator app takes it. Its length is a multiple of five bytes, so that base32 needs no padding. */
export const newTotpSecret = (): string => base32(randomBytes(SECRET_BYTES))

export function totpCode(secret: string, at: Date): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(at.getTime() / 1000 / PERIOD_S)))
  const hash = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const offset = (hash.at(-1) ?? 0) & 0xf
  return ((hash.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).toString().padStart(DIGITS, '0')
}

/** Whether a code is that of this moment, or of the one before or after: clocks differ. */
export const isTotpCode = (secret: string, code: string, at: Date): boolean =>
  [-1, 0, 1].some(periods => {
    const expected = Buffer.from(totpCode(secret, new Date(at.getTime() + periods * PERIOD_S * 1000)))
    return code.length === DIGITS && timingSafeEqual(expected, Buffer.from(code.padEnd(DIGITS).slice(0, DIGITS), 'latin1'))
  })
