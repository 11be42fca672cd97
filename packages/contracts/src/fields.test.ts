import { z } from 'zod'
import { createOrder } from './api/order'
import { id, metadata, timestamp } from './fields'

describe('a timestamp', () => {
  it.each(['1970-01-01T00:00:00Z', '2024-02-29T00:00:00.000Z', '2999-12-31T23:59:59.999Z'])('may be %s', text => {
    expect(timestamp.safeParse(text).success).toBe(true)
  })
  it.each([
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999Z',
    '3000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '+010000-01-01T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01',
    `2026-01-01T00:00:00.${'1'.repeat(120)}Z`,
    '',
  ])('may not be %j', text => {
    expect(timestamp.safeParse(text).success).toBe(false)
  })
})

describe('an id', () => {
  it('is lower case, whatever the caller wrote', () => {
    expect(id.parse('01981F3C-7B1E-7CC3-9D0E-4F1D2A6B8C90')).toBe('01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90')
  })
})

describe('metadata', () => {
  it('named __proto__ is refused, not dropped', () => {
    const result = createOrder.safeParse(JSON.parse('{"brl_amount":"1.00","metadata":{"__proto__":"x","a":"b"}}'))
    expect(result.error?.issues).toMatchObject([{ path: ['metadata'], message: 'must not have a key __proto__' }])
  })
  it.each(['constructor', 'toString', 'hasOwnProperty', 'prototype'])('may be named %s', key => {
    expect(metadata.parse({ [key]: 'x' })).toEqual({ [key]: 'x' })
  })
  it('is described as string pairs', () => {
    expect(z.toJSONSchema(metadata, { io: 'input' })).toMatchObject({ type: 'object', additionalProperties: { type: 'string' } })
    expect(z.toJSONSchema(metadata, { io: 'output' })).toMatchObject({ type: 'object', additionalProperties: { type: 'string' } })
  })
})

describe('an unknown field named __proto__', () => {
  it('is refused', () => {
    expect(createOrder.safeParse(JSON.parse('{"brl_amount":"1.00","__proto__":{}}')).success).toBe(false)
  })
})
