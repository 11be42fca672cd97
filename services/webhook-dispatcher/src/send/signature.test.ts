import { createHmac } from 'node:crypto'
import { sign } from './signature'

describe('Webhook signature', () => {
  it('rule 1: is the lower-case hex HMAC-SHA256 of the raw body', () => {
    // RFC 4231, test case 2.
    expect(sign(Buffer.from('what do ya want for nothing?'), 'Jefe')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    )
  })

  it('rule 1: keys with the UTF-8 bytes of the secret', () => {
    const expected = createHmac('sha256', Buffer.from([0x70, 0xc3, 0xa3, 0x6f]))
      .update('{}')
      .digest('hex')
    expect(sign(Buffer.from('{}'), 'pão')).toBe(expected)
  })

  it('rule 3: covers bytes, so that white space and key order matter', () => {
    const signatures = ['{"a":1,"b":2}', '{"a":1, "b":2}', '{"b":2,"a":1}'].map(text => sign(Buffer.from(text), 'secret'))
    expect(new Set(signatures).size).toBe(3)
  })

  it('covers bytes that are not text at all', () => {
    expect(sign(Uint8Array.from([0, 255, 128]), 'secret')).toMatch(/^[0-9a-f]{64}$/)
  })
})
