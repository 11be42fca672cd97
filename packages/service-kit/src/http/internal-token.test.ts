import type { Request, Response } from 'express'
import jwt from 'jsonwebtoken'
import { z } from 'zod'
import { requireCaller, signCaller } from './internal-token'

const secret = 'a'.repeat(40)
const schema = z.object({ kind: z.literal('shop') })
const claims = { caller: { kind: 'shop' } }
const sound = { expiresIn: 30, issuer: 'api-gateway', audience: 'shoes' } as const

/** What the middleware does with a header: the caller it keeps, or the code it refuses with. */
function outcome(authorization?: string): unknown {
  const res = { locals: {} as Record<string, unknown> }
  let passed = false
  try {
    const req = { headers: authorization === undefined ? {} : { authorization } }
    requireCaller({ secret, audience: 'shoes', schema })(req as Request, res as unknown as Response, () => {
      passed = true
    })
  } catch (error) {
    return Reflect.get(error as object, 'code')
  }
  return passed ? res.locals.caller : 'not passed on'
}

describe('the 30-second token from the gateway to an owner', () => {
  it('passes and names the caller', () => {
    expect(outcome(`Bearer ${signCaller({ kind: 'shop' }, { secret, audience: 'shoes' })}`)).toEqual({ kind: 'shop' })
  })

  it('lives for 30 seconds', () => {
    const { iat, exp } = jwt.decode(signCaller({}, { secret, audience: 'shoes' })) as { iat: number; exp: number }
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
