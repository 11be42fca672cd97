/** The order of secp256k1's group, and its half: a signature's s above it has a twin below, and networks take that one alone. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const HALF_ORDER = ORDER / 2n

/** r and s of an ECDSA signature as DER has it (SEQUENCE of two INTEGERs), with s in the lower half. Throws RangeError for anything else. */
export function parseDerSignature(der: Uint8Array): { r: bigint; s: bigint } {
  const { value, end } = element(der, 0, 0x30)
  if (end !== der.length) throw new RangeError('The signature has bytes behind its end.')
  const first = element(value, 0, 0x02)
  const second = element(value, first.end, 0x02)
  if (second.end !== value.length) throw new RangeError('The signature has more than two numbers.')
  const [r, s] = [scalar(first.value), scalar(second.value)]
  return { r, s: s > HALF_ORDER ? ORDER - s : s }
}

/** One element of DER with this tag, its length in one byte. */
function element(bytes: Uint8Array, at: number, tag: number): { value: Uint8Array; end: number } {
  const length = bytes[at + 1]
  if (bytes[at] !== tag || length === undefined || length > 0x7f) throw new RangeError('The signature is not in DER.')
  const end = at + 2 + length
  if (end > bytes.length) throw new RangeError('The signature is cut off.')
  return { value: bytes.subarray(at + 2, end), end }
}

function scalar(bytes: Uint8Array): bigint {
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`)
  if (bytes.length > 33 || (bytes[0] ?? 0x80) >= 0x80 || value === 0n || value >= ORDER)
    throw new RangeError('The signature has a number outside the group.')
  return value
}

/** The 65 bytes of the point at the end of a public key in DER (SubjectPublicKeyInfo) on secp256k1, as hex. Throws RangeError. */
export function parseDerPublicKey(der: Uint8Array): string {
  const hex = Buffer.from(der).toString('hex')
  // SEQUENCE { SEQUENCE { id-ecPublicKey, secp256k1 }, BIT STRING of 66 bytes }
  const [, point] = /^3056301006072a8648ce3d020106052b8104000a034200(04[0-9a-f]{128})$/.exec(hex) ?? []
  if (!point) throw new RangeError('The public key is not one on secp256k1 (ECC_SECG_P256K1).')
  return `0x${point}`
}
