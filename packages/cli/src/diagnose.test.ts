import { createHmac } from 'node:crypto'
import { diagnose } from './diagnose'

const secret = 'whsec_0123'
const event = { type: 'order.expired', data: { id: 'a', external_ref: 'ação' } }
const body = JSON.stringify(event)
const sign = (text: string, key = secret) => createHmac('sha256', key).update(text).digest('hex')

test('a signature that fits', async () => {
  expect(await diagnose(body, `${sign(body)}\n`, secret)).toEqual({ valid: true, reason: 'The signature fits.' })
})

test.each([
  ['a body that was printed again', JSON.stringify(event, null, 2), sign(body), secret, 'serialised again'],
  [
    'a body whose keys were sorted',
    JSON.stringify({ data: { external_ref: 'ação', id: 'a' }, type: event.type }),
    sign(body),
    secret,
    'serialised again',
  ],
  ['a body that an editor ended', `${body}\n`, sign(body), secret, 'line end'],
  ['another secret', body, sign(body, 'whsec_other'), secret, 'another one'],
  ['a secret with a line end', body, sign(body), `${secret}\n`, 'space or a line end'],
  ['a secret without its prefix', body, sign(body), '0123', 'without its prefix'],
  ['the other format', body, 'v1,abc=', secret, 'Standard Webhooks'],
  ['a signature that was cut', body, sign(body).slice(4), secret, '60 characters'],
  ['a signature that is not hex', body, 'z'.repeat(64), secret, 'not hex'],
  ['a body that was changed', body.replace('ação', 'acao'), sign(body), secret, 'changed on the way'],
])('names the cause: %s', async (_, given, signature, key, reason) => {
  expect(await diagnose(given, signature, key)).toEqual({ valid: false, reason: expect.stringContaining(reason) })
})
