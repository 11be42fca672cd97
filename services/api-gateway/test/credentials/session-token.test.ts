import { createHmac } from 'node:crypto'
import { silentLogger } from '@ponte/service-kit'
import jwt from 'jsonwebtoken'
import { sessionTokens } from '../../src/credentials/session-token'
import { AUDIENCE, type Identity, ISSUER, makeKey, startIdentity } from '../world/identity'

// Design, section 11, against a JWKS endpoint on a real socket.

const time = { ms: Date.parse('2026-11-20T12:00:00.000Z') }
const now = () => new Date(time.ms)
const seconds = () => Math.floor(time.ms / 1000)
let identity: Identity

const verifier = (keys: Parameters<typeof sessionTokens>[0]['keys'] = { jwksUrl: identity.jwksUrl }) =>
  sessionTokens({ keys, issuer: ISSUER, audience: AUDIENCE, now, logger: silentLogger })
const codeOf = (verified: Promise<unknown>) =>
  verified.then(
    sub => `accepted ${sub}`,
    error => String(Reflect.get(Object(error), 'code') ?? error),
  )
const valid = () => ({ sub: 'u', iss: ISSUER, aud: AUDIENCE, exp: seconds() + 60 })
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

beforeEach(async () => {
  identity = await startIdentity('ES256', now)
})
afterEach(() => identity.stop())

test.each(['ES256', 'RS256'] as const)('a %s token of the identity provider names its user', async alg => {
  identity.rotate({ keepOld: false, alg })
  expect((await verifier().verify(identity.sign({ sub: 'user-1' }))).id).toBe('user-1')
})

test('what signText signs is accepted, so that it is refused below for its content', async () => {
  expect((await verifier().verify(identity.signText(JSON.stringify(valid())))).id).toBe('u')
})

test('the keys are fetched once for many tokens, also when all come at once', async () => {
  const tokens = verifier()
  await Promise.all(Array.from({ length: 20 }, () => tokens.verify(identity.sign())))
  for (let n = 0; n < 20; n++) await tokens.verify(identity.sign())
  expect(identity.asked()).toBe(1)
})

describe('refused as invalid_jwt', () => {
  const bent: Record<string, () => string> = {
    'an expired token': () => identity.sign({ exp: seconds() }),
    'a token not yet valid': () => identity.sign({ nbf: seconds() + 60 }),
    'a token that never expires': () => identity.sign({ exp: undefined }),
    'an expiry that is not a number': () => identity.signText(JSON.stringify({ ...valid(), exp: 'never' })),
    'an expiry that is text with a number': () => identity.signText(JSON.stringify({ ...valid(), exp: String(seconds() + 60) })),
    'another issuer': () => identity.sign({ iss: 'https://evil.example' }),
    'no issuer': () => identity.sign({ iss: undefined }),
    'another audience': () => identity.sign({ aud: 'anon' }),
    'no audience': () => identity.sign({ aud: undefined }),
    'a token without sub': () => identity.sign({ sub: undefined }),
    'an empty sub': () => identity.sign({ sub: '' }),
    'a sub that is no text for a database': () => identity.sign({ sub: 'a\0b' }),
    'a sub that is not a string': () => identity.signText(JSON.stringify({ ...valid(), sub: 7 })),
    'a signature of three bytes': () => `${base64({ alg: 'ES256', kid: identity.key().kid })}.${base64(valid())}.AAAA`,
    'another key under the right kid': () => identity.sign({}, {}, { ...makeKey('ES256'), kid: identity.key().kid }),
    'an unknown kid': () => identity.sign({}, {}, makeKey('ES256')),
    'no kid': () => identity.sign({}, { kid: undefined }),
    'a kid that is no text': () => identity.signText(JSON.stringify(valid()), { kid: { toString: 0 } }),
    'a kid that is empty': () => identity.signText(JSON.stringify(valid()), { kid: '' }),
    'a kid that is a path': () => identity.sign({}, { kid: '../../../../dev/null' }),
    'a crit header': () => identity.sign({}, { crit: ['exp'] }),
    'a key that travels in the token': () => {
      const own = makeKey('ES256')
      return identity.sign({}, { jwk: own.publicKey.export({ format: 'jwk' }) }, { ...own, kid: identity.key().kid })
    },
    'alg none': () => `${base64({ alg: 'none', kid: identity.key().kid })}.${base64(valid())}.`,
    'alg None with a signature': () => `${base64({ alg: 'None', kid: identity.key().kid })}.${base64({ sub: 'u' })}.AAAA`,
    'HS256 keyed with the public key (HS/RS confusion)': () => {
      const { kid, publicKey } = identity.key()
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
      const head = `${base64({ alg: 'HS256', kid, typ: 'JWT' })}.${base64(valid())}`
      return `${head}.${createHmac('sha256', pem).update(head).digest('base64url')}`
    },
    'a changed payload': () => {
      const [head, , signature] = identity.sign().split('.')
      return `${head}.${base64({ sub: 'another', exp: seconds() + 60, iss: ISSUER, aud: AUDIENCE })}.${signature}`
    },
    'a user who never logged in': () => identity.sign({ is_anonymous: true }),
    'the role of a server': () => identity.sign({ role: 'service_role' }),
    'no signature': () => `${identity.sign().split('.').slice(0, 2).join('.')}.`,
    'two parts': () => identity.sign().split('.').slice(0, 2).join('.'),
    'five parts': () => `${identity.sign()}.a.b`,
    'a header that is not JSON': () => `${Buffer.from('{{').toString('base64url')}.${base64({})}.AAAA`,
    'a payload that is text': () => identity.signText('hello'),
    'a payload that is a list': () => identity.signText('[]'),
    'a payload that is null': () => identity.signText('null'),
    'a payload of broken UTF-8': () => identity.signText('\ud800'),
    'an API key': () => `sk_live_${'a'.repeat(64)}`,
    'a deep header': () => `${Buffer.from('['.repeat(5000)).toString('base64url')}.e30.AAAA`,
  }
  test.each(Object.keys(bent))('%s', async name => {
    expect(await codeOf(verifier().verify(bent[name]?.() ?? ''))).toBe('invalid_jwt')
  })

  test('a key of the wrong curve under an allowed algorithm', async () => {
    const rsa = makeKey('RS256')
    identity.rotate({ keepOld: true })
    const token = jwt.sign({ sub: 'u' }, rsa.privateKey, {
      algorithm: 'RS256',
      keyid: identity.key().kid,
      issuer: ISSUER,
      audience: AUDIENCE,
      expiresIn: 60,
    })
    expect(await codeOf(verifier().verify(token))).toBe('invalid_jwt')
  })
})

describe('keys that change', () => {
  test('a new key at the identity provider is accepted at once, the old one goes on while it is published', async () => {
    const tokens = verifier()
    const old = identity.sign({ sub: 'old' })
    expect((await tokens.verify(old)).id).toBe('old')
    identity.rotate({ keepOld: true })
    expect((await tokens.verify(identity.sign({ sub: 'new' }))).id).toBe('new')
    expect((await tokens.verify(old)).id).toBe('old')
    expect(identity.asked()).toBe(2)
  })

  test('a flood of unknown kids asks the identity provider a bounded number of times and harms no other', async () => {
    const tokens = verifier()
    await tokens.verify(identity.sign())
    const flood = Array.from({ length: 300 }, () => codeOf(tokens.verify(identity.sign({}, { kid: Math.random().toString() }))))
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['invalid_jwt']))
    for (let n = 0; n < 50; n++) await codeOf(tokens.verify(identity.sign({}, { kid: `one by one ${n}` })))
    expect(identity.asked()).toBeLessThanOrEqual(10)
    expect((await tokens.verify(identity.sign({ sub: 'me' }))).id).toBe('me')

    identity.rotate({ keepOld: false })
    time.ms += 6_000
    expect((await tokens.verify(identity.sign({ sub: 'rotated meanwhile' }))).id).toBe('rotated meanwhile')
  })
})

describe('an identity provider that is down', () => {
  test('with a cold cache no caller can be judged: 503, and 401 only for what needs no key to be refused', async () => {
    identity.setAnswering(false)
    const tokens = verifier()
    expect(await codeOf(tokens.verify(identity.sign()))).toBe('service_unavailable')
    expect(await codeOf(tokens.verify('garbage'))).toBe('invalid_jwt')
    identity.setAnswering(true)
    expect((await tokens.verify(identity.sign({ sub: 'back' }))).id).toBe('back')
  })

  test('so it is for a key set without an end, of which little is read', async () => {
    identity.pad(300_000)
    expect(await codeOf(verifier().verify(identity.sign()))).toBe('service_unavailable')
    identity.pad(100)
    expect((await verifier().verify(identity.sign({ sub: 'back' }))).id).toBe('back')
  })

  test('with a warm cache its users go on, and unknown keys are refused', async () => {
    const tokens = verifier()
    await tokens.verify(identity.sign())
    identity.setAnswering(false)
    expect((await tokens.verify(identity.sign({ sub: 'still here' }))).id).toBe('still here')
    expect(await codeOf(tokens.verify(identity.sign({}, {}, makeKey('ES256'))))).toBe('invalid_jwt')
  })
})

describe('with the legacy shared secret of Supabase Auth', () => {
  const secret = 'super-secret-jwt-token-with-at-least-32-characters-long'
  const claims = { sub: 'user-1', role: 'authenticated' }
  const options = { issuer: ISSUER, audience: AUDIENCE, expiresIn: 3600 } as const
  const at = () => ({ ...claims, iat: seconds() })

  test('HS256 is accepted', async () => {
    expect((await verifier({ sharedSecret: secret }).verify(jwt.sign(at(), secret, options))).id).toBe('user-1')
  })
  test('another secret, another HMAC, and asymmetric tokens are refused', async () => {
    const tokens = verifier({ sharedSecret: secret })
    for (const token of [
      jwt.sign(at(), `${secret}!`, options),
      jwt.sign(at(), secret, { ...options, algorithm: 'HS512' }),
      identity.sign(),
    ])
      expect(await codeOf(tokens.verify(token))).toBe('invalid_jwt')
  })
  test('the public anon key, which the same secret signs, is no session', async () => {
    const anon = jwt.sign({ iss: 'supabase', role: 'anon', iat: seconds(), exp: seconds() + 1e8 }, secret)
    expect(await codeOf(verifier({ sharedSecret: secret }).verify(anon))).toBe('invalid_jwt')
  })
  test('HS256 is refused when a JWKS is configured, whatever signed it', async () => {
    expect(await codeOf(verifier().verify(jwt.sign(at(), secret, { ...options, keyid: identity.key().kid })))).toBe('invalid_jwt')
  })
})
