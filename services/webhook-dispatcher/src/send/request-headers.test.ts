import { requestHeaders, type Signing, SPECIFIED_HEADERS, shownHeaders } from './request-headers'

const message = { eventId: '01981f3c-0000-7000-8000-00000000000d', sequence: '7', body: Buffer.from('{"a":1}') }
const ponte: Signing = { format: 'ponte', secret: 'whsec_c2VjcmV0', pendingSecret: null, staticHeaders: {} }
const at = Date.parse('2026-11-22T12:00:00.999Z')

test('the headers of the specification, and nothing else of meaning', () => {
  const headers = requestHeaders(ponte, message, at)
  expect(Object.keys(headers)).toEqual(['Content-Type', 'X-Service-Signature', 'User-Agent'])
  expect(shownHeaders(headers, {})).toEqual(SPECIFIED_HEADERS)
})

test('a waiting secret does not sign in the ponte format', () => {
  expect(requestHeaders({ ...ponte, pendingSecret: 'whsec_bmV3' }, message, at)).toEqual(requestHeaders(ponte, message, at))
})

test('the standard format adds id, time in whole seconds, number and a signature for each secret', () => {
  const headers = requestHeaders({ ...ponte, format: 'standard', pendingSecret: 'whsec_bmV3' }, message, at)
  expect(headers).toMatchObject({
    ...{ 'webhook-id': message.eventId, 'webhook-timestamp': String(Date.parse('2026-11-22T12:00:00Z') / 1_000), 'webhook-sequence': '7' },
    'X-Service-Signature': requestHeaders(ponte, message, at)['X-Service-Signature'],
  })
  expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/)
})

test('static headers are sent, and never replace ours', () => {
  const staticHeaders = { 'X-Api-Key': 'hush', 'Content-Type': 'text/plain' }
  const headers = requestHeaders({ ...ponte, staticHeaders }, message, at)
  expect(headers).toMatchObject({ 'X-Api-Key': 'hush', 'Content-Type': 'application/json' })
  expect(JSON.stringify(shownHeaders(headers, staticHeaders))).not.toContain('hush')
})
