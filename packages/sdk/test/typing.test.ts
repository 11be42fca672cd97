import { type ApiErrorCode, isPonteError, type Order, Ponte, PonteError, type WebhookEvent } from '../src/index.js'

// `npm run check` sees the lines that the compiler refuses; the others run here.

const paid = (id: string): WebhookEvent => ({
  type: 'order.paid',
  data: {
    id,
    subscription_id: null,
    external_ref: null,
    brl_amount: '1.00',
    usdc_amount: '0.200000',
    tx_hash: '0x',
    memo: '',
    paid_at: '',
  },
})

test('the type of an event narrows its data, and kinds that came later stay possible', () => {
  const describeEvent = (event: WebhookEvent): string => {
    switch (event.type) {
      case 'order.paid':
        return event.data.tx_hash
      case 'order.underpaid':
        return event.data.expected
      case 'order.settled':
        return event.data.settlement_tx_hash
      case 'order.expired':
        // @ts-expect-error an expired order has no transaction
        return event.data.tx_hash
      default:
        return String(event.type)
    }
  }
  expect(describeEvent(paid('a'))).toBe('0x')
})

test('the code of an error narrows, and a wrong one is refused by the compiler', () => {
  const error: unknown = new PonteError({ code: 'not_due', detail: 'The current period is charged.' })
  if (!isPonteError(error)) throw error
  if (!error.isCode('not_due')) throw error
  const code: 'not_due' = error.code
  const known: ApiErrorCode = code
  expect([known, error.message, isPonteError(error, 'not_due'), isPonteError(error, 'forbidden')]).toEqual([
    'not_due',
    'not_due: The current period is charged.',
    true,
    false,
  ])
  // @ts-expect-error there is no such code
  expect(error.isCode('not_dew')).toBe(false)
  expect(isPonteError(new Error('not_due'))).toBe(false)
})

test('amounts are text, lists are awaited and iterated', async () => {
  const asked: string[] = []
  const pages: Record<string, object> = {
    '/api/v1/orders?limit=2': { data: [{ id: 'd' }, { id: 'c' }], has_more: true },
    '/api/v1/orders?limit=2&starting_after=c': { data: [{ id: 'b' }, { id: 'a' }], has_more: false },
    '/api/v1/orders?limit=2&ending_before=a': { data: [{ id: 'c' }, { id: 'b' }], has_more: true },
    '/api/v1/orders?limit=2&ending_before=c': { data: [{ id: 'd' }], has_more: false },
    '/api/v1/orders?text=x': { data: [], has_more: true, searched_to: 'm' },
    '/api/v1/orders?text=x&starting_after=m': { data: [{ id: 'e' }], has_more: false },
  }
  const ponte = new Ponte('sk_live_test', {
    baseUrl: 'https://pay.example.com/ponte/',
    fetch: async url => {
      const path = url.replace('https://pay.example.com/ponte', '')
      asked.push(path)
      return new Response(JSON.stringify(pages[path]), { headers: { 'Content-Type': 'application/json' } })
    },
  })
  const list = ponte.orders.list({ limit: 2 })
  expect(asked).toEqual([])
  const first = await list
  const orders: Order[] = first.data
  expect(orders.map(({ id }) => id)).toEqual(['d', 'c'])
  expect((await first.next())?.data.map(({ id }) => id)).toEqual(['b', 'a'])
  expect(asked).toHaveLength(2)

  const all: string[] = []
  for await (const { id } of ponte.orders.list({ limit: 2 })) all.push(id)
  expect(all).toEqual(['d', 'c', 'b', 'a'])
  const upwards: string[] = []
  for await (const { id } of ponte.orders.list({ limit: 2, ending_before: 'a' })) upwards.push(id)
  expect(upwards).toEqual(['b', 'c', 'd'])
  const searched: string[] = []
  for await (const { id } of ponte.orders.list({ text: 'x' })) searched.push(id)
  expect(searched).toEqual(['e'])

  // @ts-expect-error amounts are never numbers
  await ponte.orders.create({ brl_amount: 150 }).catch(() => undefined)
  // @ts-expect-error there is no such filter
  await ponte.orders.list({ state: 'paid' }).then(undefined, () => undefined)
})

test.each([
  ['no key', () => new Ponte(undefined, { baseUrl: 'https://pay.example.com' })],
  ['no URL', () => new Ponte('sk_live_test', { baseUrl: '/api' })],
  ['a URL over which the key can be read', () => new Ponte('sk_live_test', { baseUrl: 'http://pay.example.com' })],
])('a client is not made with %s', (_, make) => {
  expect(make).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
})

test('no inspection of a client shows the key, and no id leaves its route', async () => {
  const asked: string[] = []
  const ponte = new Ponte('sk_live_secret', {
    baseUrl: 'http://127.0.0.1:1',
    maxRetries: 0,
    fetch: async url => {
      asked.push(url)
      throw new TypeError('refused')
    },
  })
  const { inspect } = await import('node:util')
  expect(inspect(ponte, { depth: 9, showHidden: true })).not.toContain('sk_live_secret')
  expect(() => ponte.orders.get('../merchants')).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  expect(asked).toEqual([])
  const error = await ponte.orders.create({ brl_amount: '1' }, { idempotencyKey: 'INV-1' }).catch((caught: unknown) => caught)
  expect(error).toMatchObject({ code: 'connection_failed', status: 0, idempotencyKey: 'INV-1' })
  expect(inspect(error, { depth: 9 })).not.toContain('sk_live_secret')
})
