import { randomBytes } from 'node:crypto'
import { seal, unseal } from './seal'

const key = randomBytes(32).toString('hex')

describe('a sealed secret', () => {
  it('opens to what was sealed, and looks different each time', () => {
    expect(unseal(seal('whsec_ção', key, 'merchant-1'), key, 'merchant-1')).toBe('whsec_ção')
    expect(unseal(seal('', key, 'm'), key, 'm')).toBe('')
    expect(seal('same', key, 'm')).not.toBe(seal('same', key, 'm'))
    expect(seal('readable', key, 'm')).not.toContain('readable')
  })

  it('does not open with another key or for another owner', () => {
    const sealed = seal('secret', key, 'merchant-1')
    expect(() => unseal(sealed, randomBytes(32).toString('hex'), 'merchant-1')).toThrow()
    expect(() => unseal(sealed, key, 'merchant-2')).toThrow()
  })

  it('does not open when any character of any part was changed, nor when a part is missing or too short', () => {
    const sealed = seal('secret', key, 'm')
    for (let place = 0; place < sealed.length; place++) {
      for (const other of ['A', 'B', '.', '=']) {
        if (sealed[place] === other) continue
        expect(() => unseal(`${sealed.slice(0, place)}${other}${sealed.slice(place + 1)}`, key, 'm')).toThrow()
      }
    }
    const [version, iv, tag, body] = sealed.split('.')
    const short = Buffer.from(tag ?? '', 'base64url')
      .subarray(0, 4)
      .toString('base64url')
    for (const text of [
      '',
      'v1',
      `${version}.${iv}.${tag}`,
      `${version}.${iv}.${short}.${body}`,
      `${version}..${tag}.${body}`,
      `${sealed}.x`,
    ]) {
      expect(() => unseal(text, key, 'm')).toThrow()
    }
  })
})
