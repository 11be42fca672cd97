import type { Request, Response } from 'express'
import jwt from 'jsonwebtoken'
import { z } from 'zod'
import { requireCaller, signCaller } from './internal-token'

const secret = 'a'.repeat(40)
const schema = z.object({ kind: z.literal('shop') })
const claims = { caller: { kind: 'shop' } }
const sound = { expiresIn: 30, issuer: 'api-gateway', audience: 'shoes' } as const

/** The middleware's answer to a header: the caller it keeps, or the code it refuses with. */
function outcome(authorization?: string, secrets = [secret]): unknown {
  const res = { locals: {} as Record<string, unknown> }
  let passed = false
  try {
    const req = { headers: authorization === undefined ? {} : { authorization } }
    requireCaller({ secrets, audience: 'shoes', schema })(req as Request, res as unknown as Response, () => {
      passed = true
    })
  } catch (error) {
    return Reflect.get(error as object, 'code')
  }
  return passed ? res.locals.caller : 'not passed on'
}

describe('the 30-second token from the gateway to an owner', () => {
  it('passes and names the caller', () => {
    expect(outcome(`Bearer ${signCaller({ kind: 'shop' }, { secrets: [secret], audience: 'shoes' })}`)).toEqual({ kind: 'shop' })
  })

  it('passes with any of several secrets, the first of which signs', () => {
    const [old, fresh] = [secret, 'c'.repeat(40)]
    for (const secrets of [[old], [old, fresh], [fresh, old]])
      expect(outcome(`Bearer ${signCaller({ kind: 'shop' }, { secrets, audience: 'shoes' })}`, [old, fresh])).toEqual({ kind: 'shop' })
    expect(outcome(`Bearer ${signCaller({ kind: 'shop' }, { secrets: [fresh, old], audience: 'shoes' })}`, [old])).toBe('invalid_jwt')
    expect(outcome(`Bearer ${jwt.sign(claims, fresh, { ...sound, audience: 'hats' })}`, [old, fresh])).toBe('invalid_jwt')
  })

  it('lives for 30 seconds', () => {
    const { iat, exp } = jwt.decode(signCaller({}, { secrets: [secret], audience: 'shoes' })) as { iat: number; exp: number }
    expect(exp - iat).toBe(30)
  })

  it('is required', () => {
    expect(outcome()).toBe('missing_authorization')
    expect(outcome('')).toBe('missing_authorization')
    expect(outcome('Basic abc')).toBe('missing_authorization')
  })

  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  it.each([
    ['expired', jwt.sign({ ...claims, iat: now - 100, exp: now - 70 }, secret, { issuer: 'api-gateway', audience: 'shoes' })],
    ['for another audience', jwt.sign(claims, secret, { ...sound, audience: 'hats' })],
    ['from another issuer', jwt.sign(claims, secret, { ...sound, issuer: 'somebody' })],
    ['signed with another secret', jwt.sign(claims, 'b'.repeat(40), sound)],
    ['signed with another algorithm', jwt.sign(claims, secret, { ...sound, algorithm: 'HS512' })],
    ['unsigned (alg none)', `${part({ alg: 'none' })}.${part({ ...claims, iss: 'api-gateway', aud: 'shoes', exp: now + 30 })}.`],
    ['about an unknown caller', jwt.sign({ caller: { kind: 'burglar' } }, secret, sound)],
    ['about nobody', jwt.sign({}, secret, sound)],
    ['not a token', 'abc'],
  ])('is refused when %s', (_, token) => {
    expect(outcome(`Bearer ${token}`)).toBe('invalid_jwt')
  })
})
