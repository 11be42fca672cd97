import { refuseStaticHeaders } from './static-headers'

test.each([
  {},
  { Authorization: 'Bearer abc' },
  { 'X-Tenant': '42', 'x-region': 'sa east' },
  Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`X-${n}`, 'v'])),
])('%j can be sent', headers => {
  expect(refuseStaticHeaders(headers)).toBeNull()
})

test.each([
  ...['Content-Type', 'X-Service-Signature', 'x-service-signature', 'User-Agent', 'webhook-id', 'Webhook-Signature', 'webhook-anything'],
  ...[
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Proxy-Authorization',
  ],
])('%s is ours or belongs to the connection', name => {
  expect(refuseStaticHeaders({ [name]: 'x' })).toContain(name.toLowerCase())
})

test.each([['a\r\nX-Evil: 1'], ['a\nb'], ['a\rb'], ['a\0b'], [' a'], ['a '], [''], ['é'], ['a\tb'], ['x'.repeat(1_025)], [7]])(
  'a value of %j is refused, and not quoted',
  value => {
    const refusal = refuseStaticHeaders({ 'X-Key': value })
    expect(refusal).toBe('must have printable ASCII of 1 to 1024 characters in x-key')
  },
)

test.each(['', 'a b', 'a:b', 'a\r\nb', '-', '__proto__', 'x'.repeat(65), 'ключ'])('a name of %j is refused', name => {
  expect(refuseStaticHeaders(Object.fromEntries([[name, 'x']]))).toMatch(/names of 1 to 64/)
})

test('one name in two spellings, or an eleventh header, is refused', () => {
  expect(refuseStaticHeaders({ 'X-A': '1', 'x-a': '2' })).toMatch(/twice/)
  expect(refuseStaticHeaders(Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`X-${n}`, 'v'])))).toMatch(/at most 10/)
})
