import { createHmac } from 'node:crypto'
import { webhookHandler } from '../src/fetch.js'
import { inOrder, Ponte } from '../src/index.js'

const SECRET = 'whsec_1'
let epoch = 'aaaaaaaaaaaaaaaa'
let stored: string[]
/** A service that has these events, numbered from 1, each with a cursor of its history. */
const ponte = new Ponte('sk_live_1', {
  baseUrl: 'https://pay.example.com',
  fetch: async url => {
    const query = new URL(url).searchParams
    const events = stored.map((type, index) => ({
      ...{ object: 'event', id: `e${index + 1}`, type, data: { id: `o${index + 1}` }, created_at: '2026-11-28T00:00:00.000Z' },
      ...{ sequence: index + 1, cursor: `${index + 1}-${epoch}` },
    }))
    const after = query.get('after')
    if (after?.includes('-') && !after.endsWith(epoch)) {
      const body = {
        type: '',
        title: '',
        status: 409,
        code: 'events_reset',
        detail: 'put back',
        request_id: 'r',
        resume_after: `1-${epoch}`,
      }
      return new Response(JSON.stringify(body), { status: 410 })
    }
    const data = after === null ? events.slice(-1) : events.slice(Number.parseInt(after, 10))
    return new Response(JSON.stringify({ object: 'list', data, has_more: false }))
  },
})

let kept: string | null
let handled: string[]
let fails: string | null
const handler = webhookHandler({
  secret: SECRET,
  on: inOrder({
    events: ponte.events,
    cursor: {
      load: () => kept,
      save: cursor => {
        kept = cursor
      },
    },
    on: {
      '*': (_data, event) => {
        const { id } = Object(event)
        if (id === fails) throw new Error('not now')
        handled.push(id)
      },
    },
  }),
})
const webhook = async (type: string) => {
  const body = JSON.stringify({ type, data: { id: 'o1' } })
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  const answer = await handler(
    new Request('https://shop.example.com', { method: 'POST', body, headers: { 'X-Service-Signature': signature } }),
  )
  return answer.status
}
beforeEach(() => {
  epoch = 'aaaaaaaaaaaaaaaa'
  stored = ['order.expired', 'order.cancelled', 'order.expired']
  kept = null
  handled = []
  fails = null
})

test('a webhook of whichever event has all of them handled in order, once', async () => {
  expect(await webhook('order.expired')).toBe(200)
  expect([handled, kept]).toEqual([['e1', 'e2', 'e3'], `3-${epoch}`])
  stored.push('order.cancelled')
  expect(await Promise.all([webhook('order.cancelled'), webhook('order.expired'), webhook('order.cancelled')])).toEqual([200, 200, 200])
  expect(handled).toEqual(['e1', 'e2', 'e3', 'e4'])
})

test('a handler that throws has its webhook sent again, and nothing behind it is handled before it', async () => {
  fails = 'e2'
  expect(await webhook('order.expired')).toBe(500)
  expect([handled, kept]).toEqual([['e1'], `1-${epoch}`])
  fails = null
  expect(await webhook('order.expired')).toBe(200)
  expect(handled).toEqual(['e1', 'e2', 'e3'])
})

test('where the events were put back it goes on from what both have', async () => {
  await webhook('order.expired')
  epoch = 'bbbbbbbbbbbbbbbb'
  stored = ['order.expired', 'order.cancelled']
  expect(await webhook('order.cancelled')).toBe(200)
  expect([handled, kept]).toEqual([['e1', 'e2', 'e3', 'e2'], `2-${epoch}`])
  stored = ['order.expired']
  epoch = 'cccccccccccccccc'
  expect(await webhook('order.cancelled')).toBe(200)
})

test('without an event nothing happens', async () => {
  stored = []
  expect(await webhook('order.expired')).toBe(200)
  expect(handled).toEqual([])
})
