import { createHash, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { computeAddress, recoverAddress, Signature } from 'ethers'
import { parseDerPublicKey, parseDerSignature } from './der-signature'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const hex = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`

describe('an ECDSA signature in DER', () => {
  it('by an independent implementation is recovered to its account, two hundred times, with s always in the lower half', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
    const address = computeAddress(parseDerPublicKey(publicKey.export({ type: 'spki', format: 'der' })))
    const key = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }))
    let high = 0
    for (let index = 0; index < 200; index++) {
      const message = Buffer.from(`message ${index}`)
      const der = sign('sha256', message, key)
      const { r, s } = parseDerSignature(der)
      if (!der.toString('hex').endsWith(s.toString(16).padStart(64, '0').slice(-60))) high += 1
      const digest = `0x${createHash('sha256').update(message).digest('hex')}`
      const recovered = [0, 1].map(yParity => recoverAddress(digest, Signature.from({ r: hex(r), s: hex(s), yParity: yParity as 0 | 1 })))
      expect(recovered).toContain(address)
      expect(s <= ORDER / 2n).toBe(true)
    }
    expect(high).toBeGreaterThan(0)
  })

  const der = (...numbers: string[]) => {
    const body = numbers.map(number => `02${(number.length / 2).toString(16).padStart(2, '0')}${number}`).join('')
    return Buffer.from(`30${(body.length / 2).toString(16).padStart(2, '0')}${body}`, 'hex')
  }
  it('with short numbers is read, and s is turned into the lower half', () => {
    expect(parseDerSignature(der('01', '02'))).toEqual({ r: 1n, s: 2n })
    expect(parseDerSignature(der('01', `00${(ORDER - 5n).toString(16)}`))).toEqual({ r: 1n, s: 5n })
  })
  it.each([
    ['a zero', der('00', '01')],
    ['a negative number', der('ff', '01')],
    ['a number as large as the order', der('01', `00${ORDER.toString(16)}`)],
    ['three numbers', der('01', '02', '03')],
    ['one number', der('01')],
    ['bytes behind its end', Buffer.concat([der('01', '02'), Buffer.from([0])])],
    ['a length beyond its end', Buffer.from('30060201010201', 'hex')],
    ['nothing', Buffer.alloc(0)],
  ])('with %s is refused', (_, bytes) => {
    expect(() => parseDerSignature(bytes)).toThrow(RangeError)
  })
})

it('a public key on another curve is refused', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  expect(() => parseDerPublicKey(publicKey.export({ type: 'spki', format: 'der' }))).toThrow('ECC_SECG_P256K1')
})
