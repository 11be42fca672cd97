import { randomBytes } from 'node:crypto'
import {
  type AttentionItemBody,
  aliasPath,
  isKeyed,
  KEY_SCOPES,
  type LinkBody,
  type List,
  type OperationId,
  type OrderBody,
  operationList,
  operations,
  pathWith,
  type RefundBody,
  type RefundClaimBody,
  type RefundListBody,
  type SubscriptionBody,
  type WebhookEndpointBody,
} from '@ponte/contracts'
import { mined, testAccounts } from '@ponte/local-servers'
import { call, createMerchant, jsonRequest, MERCHANT, pay, RELAYER, runSystem, system, units, world } from '../../world'

// docs/interface.md#idempotency: every POST of the API-key surface has its effect once for each Idempotency-Key.

const STRANGER = testAccounts[7]

let key: string

runSystem({ merchant: false })
beforeAll(async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const body = { name: 'all', scopes: KEY_SCOPES }
  key = (await call<{ api_key: string }>(system.gatewayUrl, 'POST', operations.createApiKey.path, merchant.token, body)).api_key
})

const make = <T = { id: string }>(id: OperationId, params: Record<string, string | number> = {}, body: object = {}) =>
  call<T>(system.gatewayUrl, operations[id].method.toUpperCase(), pathWith(operations[id].path, params), key, body)
const read = <T>(id: OperationId, params: Record<string, string> = {}) =>
  call<T>(system.gatewayUrl, 'GET', `${pathWith(operations[id].path, params)}`, key)
const countOf = (id: OperationId) => async () => (await read<List<unknown>>(id)).data.length
const eventsOf = (type: string) => async () => {
  await system.idle()
  return (await call<List<unknown>>(system.gatewayUrl, 'GET', `${operations.listEvents.path}?type=${type}`, key)).data.length
}

const newOrder = () => make<OrderBody>('createOrder', {}, { brl_amount: '10.00' })
const newSubscription = () => make<SubscriptionBody>('createSubscription', {}, { brl_amount: '10.00' })
const newEndpoint = () => make<WebhookEndpointBody>('createWebhookEndpoint', {}, { url: world.receiverUrl, events: ['*'] })
const isFirst = <T>(all: readonly T[]): T => {
  const [first] = all
  if (first === undefined) throw new Error('There is none.')
  return first
}
const newestDelivery = async () => {
  await system.idle()
  return isFirst((await read<List<{ id: string }>>('listDeliveries')).data)
}
const paidShort = async (order: OrderBody) => {
  await pay(world.chain, order, units(order.usdc_amount) / 2n)
  await system.idle()
}

const newPaidOrder = async () => {
  const order = await newOrder()
  await pay(world.chain, order)
  await system.idle()
  return order
}
const newRefund = async () =>
  make<RefundBody>(
    'createRefund',
    { id: (await newPaidOrder()).id },
    { amount: '0.10', payee_address: RELAYER.address, reason: 'It came back' },
  )

const LINK = { kind: 'invoice', brl_amount: '10.00', description: 'Consulting' }

interface Case {
  params?: Record<string, string | number>
  body?: object
  /** Grows by one with the effect; absent where the answers reveal it. */
  count?(): Promise<number>
}

/** A request for each. An operation that takes the header and is not here fails the first test. */
const cases: Partial<Record<OperationId, () => Promise<Case>>> = {
  createOrder: async () => ({ body: { brl_amount: '10.00' }, count: countOf('listOrders') }),
  createLink: async () => ({ body: LINK, count: countOf('listLinks') }),
  endLink: async () => ({ params: { id: (await make<LinkBody>('createLink', {}, LINK)).id } }),
  createExport: async () => ({ body: { format: 'csv' }, count: countOf('listExports') }),
  cancelOrder: async () => ({ params: { id: (await newOrder()).id }, count: eventsOf('order.cancelled') }),
  async acceptOrder() {
    const order = await newOrder()
    await paidShort(order)
    return { params: { id: order.id }, body: { reason: 'An exchange kept it' }, count: eventsOf('order.accepted') }
  },
  async attachAttention() {
    const order = await newOrder()
    await pay(world.chain, { ...order, memo: randomBytes(32).toString('hex') })
    await system.idle()
    const { data } = await read<List<AttentionItemBody>>('listAttention')
    const stray = data.find(({ actions }) => actions?.includes('attach'))
    return {
      params: { id: stray?.id ?? '' },
      body: { order_id: order.id, reason: 'The memo was typed wrong' },
      count: eventsOf('payment.attached'),
    }
  },
  async createRefund() {
    const { id } = await newPaidOrder()
    return {
      params: { id },
      body: { amount: '0.10', payee_address: RELAYER.address, reason: 'It came back' },
      count: async () => (await read<List<unknown>>('listRefunds', { id })).data.length,
    }
  },
  async signRefund() {
    const { id, typed_data } = await newRefund()
    if (!typed_data) throw new Error('There is nothing to sign.')
    const { domain, types, message } = typed_data
    const signature = await world.chain.wallet(MERCHANT.privateKey).signTypedData(domain, types, message)
    return { params: { id }, body: { valid_before: Number(message.validBefore), signature } }
  },
  async createRefundClaim() {
    const { id } = await newPaidOrder()
    const count = async () => (await read<RefundListBody>('listRefunds', { id })).claims.length
    return { params: { id }, body: { amount: '0.10', reason: 'Paid from an exchange' }, count }
  },
  async cancelRefundClaim() {
    const { id } = await newPaidOrder()
    return { params: { id: (await make<RefundClaimBody>('createRefundClaim', { id }, { reason: 'Paid from an exchange' })).id } }
  },
  async createRecovery() {
    const { id, payment } = await newOrder()
    const stranger = world.chain.wallet(STRANGER.privateKey)
    const { hash } = await mined(stranger.sendTransaction({ to: payment.deposit_address, value: 1n }))
    await system.idle()
    await make('explainOrder', { id }, { tx_hash: hash })
    return {
      params: { id },
      body: { token_address: null, destination: payment.merchant_address },
      count: async () => (await read<List<unknown>>('listRecoveries', { id })).data.length,
    }
  },
  cancelRefund: async () => ({ params: { id: (await newRefund()).id } }),
  async handleAttention() {
    const order = await newOrder()
    await paidShort(order)
    const { data } = await read<List<AttentionItemBody>>('listAttention')
    return { params: { id: order.id }, body: { facts: data.find(({ id }) => id === order.id)?.facts } }
  },
  async reopenAttention() {
    const order = await newOrder()
    await paidShort(order)
    return { params: { id: order.id } }
  },
  createSubscription: async () => ({ body: { brl_amount: '10.00' }, count: countOf('listSubscriptions') }),
  chargeSubscription: async () => ({ params: { id: (await newSubscription()).id }, count: countOf('listOrders') }),
  cancelSubscription: async () => ({ params: { id: (await newSubscription()).id }, count: eventsOf('subscription.cancelled') }),
  async acceptCharge() {
    const { id } = await newSubscription()
    await paidShort(await make<OrderBody>('chargeSubscription', { id }))
    const { charges = [] } = await read<SubscriptionBody>('getSubscription', { id })
    return {
      params: { id, period_index: isFirst(charges).period_index },
      count: async () => (await read<SubscriptionBody>('getSubscription', { id })).charges_done,
    }
  },
  replayDelivery: async () => ({ params: { id: (await newestDelivery()).id }, count: countOf('listDeliveries') }),
  async replayDeliveries() {
    const { id } = await newOrder()
    await make('cancelOrder', { id })
    await system.idle()
    const body = {
      created_gte: '2026-01-01T00:00:00.000Z',
      created_lt: '2100-01-01T00:00:00.000Z',
      scope: 'all',
      event_type: 'order.cancelled',
    }
    return { body }
  },
  createWebhookEndpoint: async () => ({ body: { url: world.receiverUrl, events: ['*'] }, count: countOf('listWebhookEndpoints') }),
  rotateEndpointSecret: async () => ({ params: { id: (await newEndpoint()).id } }),
  async activateEndpointSecret() {
    const { id } = await newEndpoint()
    await make('rotateEndpointSecret', { id })
    return { params: { id } }
  },
  async testWebhookEndpoint() {
    const { id } = await newEndpoint()
    const path = `${operations.listDeliveries.path}?endpoint_id=${id}&limit=100`
    const count = async () => {
      await system.idle()
      return (await call<List<unknown>>(system.gatewayUrl, 'GET', path, key)).data.length
    }
    return { params: { id }, count }
  },
}

/** A field by which a second request differs, of those that have a body. */
const DIFFERENT: Partial<Record<OperationId, object>> = {
  createExport: { format: 'ofx' },
  createLink: { brl_amount: '11.00' },
  createOrder: { brl_amount: '11.00' },
  acceptOrder: { reason: 'Another one' },
  attachAttention: { reason: 'Another one' },
  createRefund: { amount: '0.20' },
  createRefundClaim: { amount: '0.20' },
  createRecovery: { token_address: `0x${'5b'.repeat(20)}` },
  signRefund: { valid_before: 1 },
  handleAttention: { facts: 'others' },
  createSubscription: { brl_amount: '11.00' },
  replayDeliveries: { scope: 'undelivered' },
  createWebhookEndpoint: { events: ['order.paid'] },
}

const keyed = operationList.filter(([, operation]) => isKeyed(operation) && operation.credentials.includes('api_key'))

test('every POST of the API-key surface is tried here', () => {
  expect(Object.keys(cases).sort()).toEqual(keyed.map(([id]) => id).sort())
})

test.each(keyed)('%s has its effect once, and its answer again', async (id, operation) => {
  const { params = {}, body, count } = (await cases[id]?.()) ?? {}
  const before = (await count?.()) ?? 0
  const ask = (given: object | undefined, path = operation.path) =>
    fetch(`${system.gatewayUrl}${pathWith(path, params)}`, jsonRequest('POST', key, given, `${id}-once`))
  // Two at once, and a third by the alias, which is the same operation.
  const first = [...(await Promise.all([ask(body), ask(body)])), await ask(body, aliasPath(operation.path))]
  const bodies = (await Promise.all(first.map(answer => answer.json()))) as Record<string, unknown>[]
  expect(first.map(({ status }) => status)).toEqual(Array(3).fill(first[0]?.status))
  expect(first.map(({ ok }) => ok)).toEqual([true, true, true])
  expect(first.filter(({ headers }) => headers.get('idempotency-replayed') !== 'true')).toHaveLength(1)
  // A delivery is shown as it is when it is asked for.
  const shown = bodies.map(one => (one.object === 'delivery' ? one.id : one))
  expect(shown).toEqual(Array(3).fill(shown[0]))
  if (count) expect((await count()) - before).toBe(1)
  if (body === undefined) return
  const other = await ask({ ...body, ...DIFFERENT[id] })
  expect([other.status, Object(await other.json()).code]).toEqual([422, 'idempotency_mismatch'])
})
