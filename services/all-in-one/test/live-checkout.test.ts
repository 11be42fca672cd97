import type { CheckoutBody, OrderBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { type System, startAll } from '../src'
import { call, createMerchant, pay, startWorld, type World } from './system'

let world: World
let system: System
beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, { logger: world.logger })
}, 60_000)
afterAll(async () => {
  await system?.stop()
  await world?.stop()
})

/** What a payer's page is told while it is open. */
async function watch(orderId: string) {
  const told: CheckoutBody[] = []
  const aborted = new AbortController()
  const response = await fetch(`${system.gatewayUrl}/api/v1/checkout/${orderId}/stream`, { signal: aborted.signal })
  const reading = (async () => {
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString('utf8')
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) if (event.startsWith('event: checkout')) told.push(JSON.parse(event.slice(event.indexOf('{'))))
    }
  })().catch(error => {
    if (!aborted.signal.aborted) throw error
  })
  const close = async () => {
    aborted.abort()
    await reading
  }
  return { told, close }
}

it('a payer who looks at the checkout sees the payment arrive without asking again; nobody else is told', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const create = (amount: string) => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: amount })
  const [order, other] = [await create('150.00'), await create('10.00')]
  const [mine, theirs] = [await watch(order.id), await watch(other.id)]
  await until(() => mine.told.length > 0 && theirs.told.length > 0, 'the present view was not told')
  expect(mine.told[0]).toMatchObject({ status: 'pending', due: order.usdc_amount })

  const receipt = await pay(world.chain, order)
  await until(
    () => mine.told.at(-1)?.status === 'paid',
    () => `the last that was told is ${mine.told.at(-1)?.status}`,
  )
  expect(mine.told.at(-1)).toMatchObject({ received: order.expected, due: '0.000000', tx_hash: receipt.hash })
  const states = [...new Set(mine.told.map(({ status }) => status))]
  expect(['pending,paid', 'pending,confirming,paid']).toContain(states.join())
  expect(theirs.told.map(({ status }) => status)).toEqual(['pending'])
  await mine.close()
  await theirs.close()
}, 60_000)
