import { type Processes, startProcesses } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { commit } from '../../releases/before.json'
import { buildRelease, createMerchant, jsonRequest, pay, startWorld, type World } from '../../world'

// `npm run release-before`: services of the release before (or of PONTE_RELEASE_BEFORE), built in a clone of their own, do their work on databases that this release has
// migrated. Orders and chain-listener are of this release, so that the two speak with each other.

const COMMIT = process.env.PONTE_RELEASE_BEFORE ?? commit
const OF_BEFORE = ['api-gateway', 'subscriptions', 'webhook-dispatcher'] as const
const BUILD_MS = 1_800_000

let world: World
let processes: Processes
let merchant: Awaited<ReturnType<typeof createMerchant>>
beforeAll(async () => {
  const folder = await buildRelease(COMMIT)
  world = await startWorld({ amqp: testBroker() })
  processes = await startProcesses(world.place, {}, { roots: Object.fromEntries(OF_BEFORE.map(name => [name, folder])) })
  merchant = await createMerchant(world, world.place.publicUrl)
}, BUILD_MS)
afterAll(async () => {
  await processes?.stop()
  await world?.stop()
})

/** Not held against today's document: it answers what it answered then. */
async function ask<T>(method: string, path: string, body?: object, key?: string): Promise<{ status: number; body: T }> {
  const response = await fetch(`${world.place.publicUrl}/api/v1${path}`, jsonRequest(method, merchant.api_key, body, key))
  return { status: response.status, body: (await response.json()) as T }
}
const notified = (id: string) => world.receiver.received.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.id === id)
const isNotified = (id: string, type: string) =>
  until(
    () => notified(id).some(event => event.type === type),
    () => `${type} of ${id} was not notified: ${JSON.stringify(notified(id))}\n${OF_BEFORE.map(name => processes.output(name)).join('\n')}`,
    60_000,
  )

test(`services of ${COMMIT} take, list, cancel and notify orders on this schema`, async () => {
  const { status, body: paid } = await ask<OrderBody>('POST', '/orders', { brl_amount: '150.00' }, 'a-key-of-this-test')
  expect({ status, paid }).toMatchObject({ status: 201 })
  expect((await ask<OrderBody>('POST', '/orders', { brl_amount: '150.00' }, 'a-key-of-this-test')).body.id).toBe(paid.id)
  const { body: cancelled } = await ask<OrderBody>('POST', '/orders', { brl_amount: '10.00' })
  expect((await ask('POST', `/orders/${cancelled.id}/cancel`, {})).status).toBe(200)
  await pay(world.chain, paid)
  await isNotified(paid.id, 'order.paid')
  await isNotified(cancelled.id, 'order.cancelled')
  expect((await ask<{ data: OrderBody[] }>('GET', '/orders')).body.data.map(({ status }) => status).sort()).toEqual(['cancelled', 'paid'])
}, 180_000)

test('they charge a subscription to its end', async () => {
  const { body: plan } = await ask<{ id: string }>('POST', '/subscriptions', { brl_amount: '49.90', interval: 'day', max_periods: 1 })
  let answer: OrderBody | undefined
  await until(
    async () => {
      const { body } = await ask<OrderBody>('POST', `/subscriptions/${plan.id}/charge`, {})
      answer = body
      return body.object === 'order'
    },
    () => `no order was issued: ${JSON.stringify(answer)}`,
    60_000,
  )
  if (!answer) throw new Error('There is no order.')
  await pay(world.chain, answer)
  await isNotified(answer.id, 'subscription.charged')
  await isNotified(plan.id, 'subscription.expired')
}, 180_000)
