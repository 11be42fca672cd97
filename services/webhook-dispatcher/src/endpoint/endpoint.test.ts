import { createEndpoint as createBody } from '@ponte/contracts'
import { activateSecret, createEndpoint, inForce, rotateSecret, SECRET_ACTIVATES_AFTER_MS, updateEndpoint } from './endpoint'

const at = new Date('2026-11-22T12:00:00.000Z')
const later = (ms: number) => new Date(at.getTime() + ms)
const seal = (plain: string, id: string) => `${id} seals ${plain}`
const given = { id: 'e', merchantId: 'm', secret: 'old', at, seal }
const open = (body: object = {}) => createEndpoint(createBody.parse({ url: 'https://example.com/', events: ['*'], ...body }), given)

test('a new endpoint has the default format, and its secret and headers sealed for it alone', () => {
  expect(open({ headers: { Authorization: 'Bearer 42' } })).toEqual({
    id: 'e',
    merchantId: 'm',
    version: 1,
    url: 'https://example.com/',
    description: null,
    events: ['*'],
    format: 'ponte',
    headerNames: ['Authorization'],
    sealedHeaders: 'e seals {"Authorization":"Bearer 42"}',
    maxInFlight: null,
    paused: false,
    sealedSecret: 'e seals old',
    pending: null,
    createdAt: at,
  })
})

test.each(['ftp://example.com', 'https://u:p@example.com', 'http://example.com:25/'])('the url %s is refused', url => {
  expect(() => open({ url })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  expect(() => updateEndpoint(open(), { url }, seal)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
})

test('absent fields stay, null clears, headers are replaced as a whole', () => {
  const full = open({ description: 'ERP', max_in_flight: 2, headers: { 'X-A': '1' } })
  expect(updateEndpoint(full, {}, seal)).toEqual(full)
  expect(updateEndpoint(full, { description: null, max_in_flight: null, headers: {} }, seal)).toMatchObject({
    description: null,
    maxInFlight: null,
    headerNames: [],
    sealedHeaders: null,
  })
  expect(updateEndpoint(full, { paused: true, events: ['order.paid'], format: 'standard' }, seal)).toMatchObject({
    paused: true,
    events: ['order.paid'],
    format: 'standard',
    sealedHeaders: full.sealedHeaders,
  })
})

test.each(['https://thief.example/', 'http://example.com/', 'https://example.com:8443/', 'https://hooks.example.com/'])(
  'static headers, which are never shown, do not follow the endpoint to %s unless they are given again',
  url => {
    const kept = open({ headers: { Authorization: 'Bearer 42' } })
    expect(() => updateEndpoint(kept, { url }, seal)).toThrow(
      expect.objectContaining({ code: 'invalid_request', errors: [expect.objectContaining({ path: 'headers' })] }),
    )
    expect(updateEndpoint(kept, { url, headers: {} }, seal)).toMatchObject({ url, sealedHeaders: null })
    expect(updateEndpoint(kept, { url, headers: { 'X-A': '1' } }, seal)).toMatchObject({ url, headerNames: ['X-A'] })
    expect(updateEndpoint(kept, { url: 'https://example.com/other' }, seal).sealedHeaders).toBe(kept.sealedHeaders)
    expect(updateEndpoint(open(), { url }, seal).url).toBe(url)
  },
)

test('a rotated secret waits for a day or for its activation; another rotation replaces it', () => {
  const rotated = rotateSecret(rotateSecret(open(), 'lost', at, seal), 'new', later(1), seal)
  expect(inForce(rotated, later(SECRET_ACTIVATES_AFTER_MS))).toMatchObject({ sealedSecret: 'e seals old' })
  expect(inForce(rotated, later(SECRET_ACTIVATES_AFTER_MS + 1))).toMatchObject({ sealedSecret: 'e seals new', pending: null })
  expect(activateSecret(rotated, later(2))).toMatchObject({ sealedSecret: 'e seals new', pending: null })
  expect(() => activateSecret(open(), at)).toThrow(expect.objectContaining({ code: 'invalid_state' }))
})
