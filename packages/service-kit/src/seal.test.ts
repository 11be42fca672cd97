import { randomBytes } from 'node:crypto'
import { reseal, seal, unseal } from './seal'

const newKey = () => randomBytes(32).toString('hex')
const key = newKey()
const keys = [key]

describe('while the key is changed', () => {
  const [old, fresh] = [newKey(), newKey()]

  it('both sides open what either sealed, whichever key each has first', () => {
    for (const sealer of [[old], [old, fresh], [fresh, old]])
      for (const opener of [
        [old, fresh],
        [fresh, old],
      ])
        expect(unseal(seal('secret', sealer, 'm'), opener, 'm')).toBe('secret')
    expect(unseal(seal('secret', [fresh, old], 'm'), [fresh], 'm')).toBe('secret')
  })

  it('what was sealed by a key that is not there any more does not open, and is named', () => {
    expect(() => unseal(seal('secret', [old, fresh], 'm'), [fresh], 'm')).toThrow('a key that is not among ours')
    expect(() => unseal(seal('secret', [old], 'm'), [fresh], 'm')).toThrow()
  })

  it('is sealed anew by the first key once, and the text of one key alone is that of the release before', () => {
    const anew = reseal(seal('secret', [old], 'm'), [fresh, old], 'm')
    expect(unseal(anew, [fresh], 'm')).toBe('secret')
    expect(reseal(anew, [fresh, old], 'm')).toBe(anew)
    expect(reseal(anew, [fresh], 'm')).toBe(anew)
    expect(seal('secret', [old], 'm')).toMatch(/^v1(\.[\w-]+){3}$/)
    expect(() => reseal(anew, [old], 'm')).toThrow()
  })

  it("does not open when any character was changed, its key's id included", () => {
    const sealed = seal('secret', [old, fresh], 'm')
    for (let place = 0; place < sealed.length; place++) {
      const other = sealed[place] === 'A' ? 'B' : 'A'
      expect(() => unseal(`${sealed.slice(0, place)}${other}${sealed.slice(place + 1)}`, [old, fresh], 'm')).toThrow()
    }
  })
})

describe('a sealed secret', () => {
  it('opens to what was sealed, and looks different each time', () => {
    expect(unseal(seal('whsec_ção', keys, 'merchant-1'), keys, 'merchant-1')).toBe('whsec_ção')
    expect(unseal(seal('', keys, 'm'), keys, 'm')).toBe('')
    expect(seal('same', keys, 'm')).not.toBe(seal('same', keys, 'm'))
    expect(seal('readable', keys, 'm')).not.toContain('readable')
  })

  it('does not open with another key or for another owner', () => {
    const sealed = seal('secret', keys, 'merchant-1')
    expect(() => unseal(sealed, [newKey()], 'merchant-1')).toThrow()
    expect(() => unseal(sealed, keys, 'merchant-2')).toThrow()
  })

  it('does not open when any character of any part was changed, nor when a part is missing or too short', () => {
    const sealed = seal('secret', keys, 'm')
    for (let place = 0; place < sealed.length; place++) {
      for (const other of ['A', 'B', '.', '=']) {
        if (sealed[place] === other) continue
        expect(() => unseal(`${sealed.slice(0, place)}${other}${sealed.slice(place + 1)}`, keys, 'm')).toThrow()
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
      expect(() => unseal(text, keys, 'm')).toThrow()
    }
  })
})
