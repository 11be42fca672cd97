import { randomBytes } from 'node:crypto'
import { hashApiKey, isApiKey, mintApiKey } from './api-key'

test('specification, API keys rule 1: sk_live_ followed by 64 hex characters, made of all 256 bits', () => {
  const entropy = randomBytes(32)
  const { plain, hash } = mintApiKey(entropy, 'live')
  expect(plain).toBe(`sk_live_${entropy.toString('hex')}`)
  expect(plain).toMatch(/^sk_live_[0-9a-f]{64}$/)
  expect(hash).toEqual(hashApiKey(plain))
  expect(hash).toHaveLength(32)
})

test('a deployment for tests gives keys that say so, and a developer those of the specification', () => {
  const entropy = randomBytes(32)
  expect(mintApiKey(entropy, 'test').plain).toBe(`sk_test_${entropy.toString('hex')}`)
  expect(mintApiKey(entropy, 'development').plain).toBe(`sk_live_${entropy.toString('hex')}`)
})

test('less entropy than 256 bits is refused', () => {
  expect(() => mintApiKey(randomBytes(16), 'live')).toThrow(RangeError)
})

test('the hash is SHA-256 of the whole key', () => {
  expect(hashApiKey(`sk_live_${'0'.repeat(64)}`).toString('hex')).toBe('33a06e9e3e1d3ee68ae634fdd9d3937fb192b2865b2b927caa74c63d4118f3db')
})

test.each([
  '',
  'sk_live_',
  `sk_live_${'a'.repeat(63)}`,
  `sk_live_${'a'.repeat(65)}`,
  `sk_live_${'A'.repeat(64)}`,
  `sk_demo_${'a'.repeat(64)}`,
  `sk_live_${'a'.repeat(64)}\n`,
  ` sk_live_${'a'.repeat(64)}`,
])('%j is not an API key', text => {
  expect(isApiKey(text)).toBe(false)
})
