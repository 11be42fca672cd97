import type { EventData, OrderBody } from '@ponte/contracts'
import { uuidv7 } from '@ponte/service-kit'
import { getAddress, Wallet } from 'ethers'
import request from 'supertest'
import { openStore } from '../src/store'
import { listener, message } from './listener'
import { asMerchant, merchantId, startOrders } from './setup'

const wallet = Wallet.createRandom()
const TOKEN = getAddress(`0x${'b7'.repeat(20)}`)
let system: Awaited<ReturnType<typeof startOrders>>
let chain: ReturnType<typeof listener>
beforeAll(async () => {
  system = await startOrders()
  chain = listener(system.bus)
})
afterAll(() => system?.stop())

const me = () => asMerchant(merchantId, wallet.address, 'ana')
const post = (path: string, body: object) => request(system.url).post(`/api/v1${path}`).set(me()).send(body)
const store = () => openStore(system.sql, { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined })

it('another history of the listener is asked about a recovery that was confirmed so lately that a reorganisation may take it back', async () => {
  const { body: order }: { body: OrderBody } = await post('/orders', { brl_amount: '542.00' })
  const sentAt = new Date(Date.now() - 60_000)
  const token = {
    id: uuidv7(),
    orderId: order.id,
    merchantId,
    chainId: 31337,
    tokenAddress: TOKEN,
    units: 5n,
    txHash: `0x${'5b'.repeat(32)}`,
  }
  await store().foreignTokens.keep(order.id, 31337, [{ ...token, sentAt, foundAt: sentAt }], 5)
  const recoveries = `/orders/${order.id}/recoveries`
  expect((await post(recoveries, { token_address: TOKEN, destination: wallet.address })).status).toBe(202)
  const status = async () => (await request(system.url).get(`/api/v1${recoveries}`).set(me())).body.data[0]?.status
  const watches = async () => {
    const { rows } = await system.sql.query<{ id: string }>(
      "SELECT body::jsonb#>>'{data,recoveries,0,recovery_id}' AS id FROM outbox WHERE type = 'recovery.watch'",
    )
    return rows.map(({ id }) => id)
  }
  const [recovery_id = ''] = await watches()
  const state = async (revision: number, end: EventData<'recovery.observed'>['end']) => {
    const of = { chain_id: 31337, generation: chain.generation(), recovery_id, order_id: order.id, token_address: TOKEN }
    await system.bus.publish(message('recovery.observed', { ...of, revision, end, failure_code: null }))
    await system.orders.idle()
  }
  await chain.publish({})
  await state(1, { tx_hash: `0x${'ed'.repeat(32)}`, block_number: 1_000_020, block_time: new Date().toISOString(), units: '5' })
  await system.sql.query('UPDATE foreign_tokens SET asked_at = NULL')
  const before = await watches()
  await store().foreignTokens.askUnheard(31337)
  expect([await status(), await watches()]).toEqual(['confirmed', before])

  chain.beginAnew()
  await chain.publish({ head: 1_000_025 })
  await store().foreignTokens.askUnheard(31337)
  expect((await watches()).length).toBeGreaterThan(before.length)
  await state(1, null)
  expect(await status()).toBe('pending')
})
