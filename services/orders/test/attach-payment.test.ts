import type { AttentionItemBody, EntryBody, OrderBody } from '@ponte/contracts'
import { until, uuidv7 } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import request from 'supertest'
import { charge, message, type Paid } from './listener'
import { chain, runOrders, system } from './run-orders'
import { asMerchant, PAYOUT } from './setup'

// Money that carries the memo of no order counts for one by its merchant's word, as if it had carried that order's memo.

runOrders()

const settings = (merchant_id: string, payout_address: string) => ({
  ...{ merchant_id, version: 1, display_name: 'M', payout_address, webhook_url: null, sealed_webhook_secret: 'x' },
  ...{ sealed_pending_webhook_secret: null, pending_webhook_secret_activates_at: null },
})
/** A merchant of their own payout address; everything here is theirs. */
async function newMerchant(payout = Wallet.createRandom().address, agoMs = 3_600_000) {
  const id = uuidv7()
  const save = (change: object = {}) =>
    system.bus.publish(message('merchant.updated', { ...settings(id, payout), ...change }, uuidv7(), new Date(Date.now() - agoMs)))
  await save()
  const as = asMerchant(id, payout, 'ana')
  const items = async (): Promise<AttentionItemBody[]> => (await request(system.url).get('/api/v1/attention').set(as)).body.data
  return {
    id,
    payout,
    /** As of a merchant whose address's key has signed for them. */
    proves: () =>
      save({ version: 2, payout_proof: { message: 'Mine', signature: `0x${'1b'.repeat(65)}`, signed_at: new Date().toISOString() } }),
    // Each asks for 100 USDC; the fee is 1 %.
    create: async (): Promise<OrderBody> => (await request(system.url).post('/api/v1/orders').set(as).send({ brl_amount: '542.00' })).body,
    read: async ({ id: order }: OrderBody): Promise<OrderBody> => (await request(system.url).get(`/api/v1/orders/${order}`).set(as)).body,
    post: (path: string, body: object, headers: Record<string, string> = {}) =>
      request(system.url)
        .post(`/api/v1${path}`)
        .set({ ...as, ...headers })
        .send(body),
    /** Money of this payment that counts for nothing yet. */
    async strays(order: OrderBody, change: Partial<Paid> & { gross?: bigint } = {}) {
      const paid = chain.payment(order, { memo: uuidv7().replaceAll('-', '').padEnd(64, '0'), merchant_address: payout, ...change })
      await chain.report('confirmed', paid)
      const item = (await items()).find(({ payment }) => payment?.tx_hash === paid.tx_hash)
      if (!item) throw new Error('the payment is not in the list')
      return { paid, item }
    },
    items,
    entries: async () => {
      const { body } = await request(system.url).get('/api/v1/entries').query({ limit: 100 }).set(as)
      return body.data.map(({ kind, amount, order_id, reverses }: EntryBody) => [kind, amount, order_id, reverses])
    },
  }
}
type Merchant = Awaited<ReturnType<typeof newMerchant>>
const attach = (merchant: Merchant, item: AttentionItemBody, order: OrderBody, headers: Record<string, string> = {}) =>
  merchant.post(`/attention/${item.id}/attach`, { order_id: order.id, reason: 'The memo was typed wrong' }, headers)
const types = async ({ id }: OrderBody) => (await system.published(id)).map(({ type }) => type)
const attached = async ({ id }: OrderBody) =>
  (await system.sql.query("SELECT 1 FROM outbox WHERE type = 'payment.attached' AND body LIKE $1", [`%${id}%`])).rowCount
const isAlike = async (paid: Paid) => {
  const query = { from_block: paid.block_number, to_block: paid.block_number }
  return (await request(system.ops).get('/reconcile').query(query)).body.differences
}

test('it pays the order, in the books too, and whatever is stated of it again counts for that order once', async () => {
  const merchant = await newMerchant()
  const order = await merchant.create()
  const { paid, item } = await merchant.strays(order, { block_number: 20 })
  expect(item.actions).toEqual(['attach'])
  const answer = await attach(merchant, item, order)
  expect([answer.status, answer.body.status, answer.body.tx_hash]).toEqual([200, 'paid', paid.tx_hash])
  expect([await merchant.items(), await attached(order), await types(order)]).toEqual([[], 1, ['order.paid']])
  const entries = [
    ['unmatched', '100.000000', null, null],
    ['fee', '1.000000', null, null],
    ['settled', '99.000000', null, null],
  ]
  expect((await merchant.entries()).slice(0, 3)).toEqual(entries)
  const left = (await merchant.entries()).slice(3)
  expect(left.filter(([, , of]: unknown[]) => of === order.id).map(([kind, amount]: unknown[]) => [kind, amount])).toEqual([
    ['payment', '100.000000'],
    ['fee', '1.000000'],
    ['settled', '99.000000'],
  ])
  expect(left.filter(([, , , reverses]: unknown[]) => reverses !== null)).toHaveLength(3)
  await chain.report('confirmed', paid)
  chain.beginAnew()
  await chain.report('confirmed', paid)
  expect([await merchant.items(), await merchant.entries(), await types(order)]).toEqual([[], [...entries, ...left], ['order.paid']])
  expect(await merchant.read(order)).toMatchObject({ status: 'paid', received: '99.000000', payments: [{ tx_hash: paid.tx_hash }] })
  expect(await isAlike(paid)).toEqual([])
})

test('a payment beside it in the same event, and one at the same moment, count together with it', async () => {
  const merchant = await newMerchant()
  for (let turn = 0; turn < 8; turn++) {
    const order = await merchant.create()
    const { item } = await merchant.strays(order, { gross: 60_000_000n, block_number: 30 })
    const rest = chain.payment(order, { gross: 40_000_000n, block_number: 31 })
    const [answer] = await Promise.all([attach(merchant, item, order), chain.report('confirmed', rest)])
    expect(answer.status).toBe(200)
    expect([await merchant.read(order), (await types(order)).filter(type => type === 'order.paid')]).toMatchObject([
      { status: 'paid', exception: null, received: '99.000000' },
      ['order.paid'],
    ])
  }
})

test('it counts once, of twenty at once for two orders, and a keyed answer is replayed', async () => {
  const merchant = await newMerchant()
  const [one, other] = [await merchant.create(), await merchant.create()]
  const { item } = await merchant.strays(one)
  const all = await Promise.all(Array.from({ length: 20 }, (_, index) => attach(merchant, item, index % 2 ? one : other)))
  expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(404)])
  const states = await Promise.all([one, other].map(async order => (await merchant.read(order)).status))
  expect(states.sort()).toEqual(['paid', 'pending'])
  const third = await merchant.create()
  const next = await merchant.strays(third)
  const key = { 'Idempotency-Key': 'attach' }
  const same = await Promise.all(Array.from({ length: 10 }, () => attach(merchant, next.item, third, key)))
  expect(new Set(same.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect([same[0]?.status, await attached(third)]).toEqual([200, 1])
})

test('counted by hand on another replica while the order of its memo is made, it counts for the one that it was counted for', async () => {
  const merchant = await newMerchant()
  const order = await merchant.create()
  const { paid, item } = await merchant.strays(order, { block_number: 40 })
  const late = charge({
    memo: paid.memo,
    brl_amount: '542.00',
    terms: { merchant_id: merchant.id, version: 1, display_name: 'M', payout_address: merchant.payout },
  })
  const waits =
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%gone_blocks%'"
  const columns = 'kind, status, gross_units, payer_address, tx_hash, block_number, block_time, log_index, block_hash, generation, version'
  let publishing: Promise<void> | undefined
  await system.sql.transaction(async replica => {
    // Money that came for that memo is read by then, and the cursor is not.
    await replica.query('LOCK TABLE gone_blocks IN ACCESS EXCLUSIVE MODE')
    publishing = system.bus.publish(message('subscription.charge_requested', late))
    await until(async () => (await system.sql.query(waits)).rowCount !== 0, 'the cursor is not asked for')
    await replica.query('UPDATE chain_cursors SET version = version + 1')
    await replica.query(
      `WITH taken AS (DELETE FROM unmatched_payments WHERE memo = $1 RETURNING *),
      attached AS (INSERT INTO attachments (payment_id, order_id, memo, reason, attached_at) SELECT id, $2::uuid, memo, 'Typed wrong', now() FROM taken)
      INSERT INTO payments (id, order_id, ${columns}) SELECT id, $2::uuid, ${columns} FROM taken`,
      [paid.memo, order.id],
    )
  })
  await publishing
  await system.orders.idle()
  expect([item.payment?.memo, await merchant.read({ ...order, id: late.order_id })]).toMatchObject([
    late.memo,
    { status: 'pending', received: '0.000000' },
  ])
})

test('money of a block after the end of the order came late, and can be accepted', async () => {
  const merchant = await newMerchant()
  const order = await merchant.create()
  const late = new Date(Date.parse(order.expires_at) + 60_000)
  const { item } = await merchant.strays(order, { block_time: late.toISOString(), block_number: 40 })
  expect((await attach(merchant, item, order)).status).toBe(200)
  await chain.synced(order)
  await chain.advances(new Date(late.getTime() + 1_000))
  await system.orders.idle()
  expect(await merchant.read(order)).toMatchObject({ status: 'expired', exception: 'paid_late' })
  const accepted = await merchant.post(`/orders/${order.id}/accept`, { reason: 'It is theirs' })
  expect([accepted.status, accepted.body.status]).toEqual([200, 'paid'])
})

test('a reorganisation of the payment takes it away; mined again it counts for no order, and can be counted again', async () => {
  const merchant = await newMerchant()
  const order = await merchant.create()
  const { paid, item } = await merchant.strays(order, { gross: 60_000_000n, block_number: 50 })
  await attach(merchant, item, order)
  await chain.report('orphaned', paid)
  expect(await merchant.read(order)).toMatchObject({ status: 'pending', received: '0.000000' })
  await chain.report('confirmed', paid, { block_number: 51 })
  const [again] = (await merchant.items()).filter(({ payment }) => payment?.tx_hash === paid.tx_hash)
  expect(again && (await attach(merchant, again, order)).status).toBe(200)
  expect(await merchant.read(order)).toMatchObject({ status: 'underpaid', received: '59.400000' })
  expect((await merchant.entries()).reduce((sum: number, [, amount]: [string, string]) => sum + Number(amount), 0)).toBeCloseTo(120)
})

describe('it is refused with a sentence', () => {
  it.each([
    [
      'where the order is paid',
      {},
      async (_merchant: Merchant, order: OrderBody) => void (await chain.report('confirmed', chain.payment(order))),
    ],
    ['where it went to another router', { router_address: `0x${'cd'.repeat(20)}` }, async () => undefined],
    ['where it is of another token', { token_address: `0x${'ce'.repeat(20)}` }, async () => undefined],
  ])('%s', async (_where, change, happens) => {
    const merchant = await newMerchant()
    const order = await merchant.create()
    await happens(merchant, order)
    const before = await merchant.read(order)
    const { item } = await merchant.strays(order, change)
    const answer = await attach(merchant, item, order)
    expect([answer.status, answer.body.code, answer.body.detail.length > 40]).toEqual([409, 'invalid_state', true])
    expect([await merchant.read(order), (await merchant.items()).map(({ id }) => id)]).toEqual([before, [item.id]])
  })

  it("while a payer's signature for the order is on its way, which would be paid beside it", async () => {
    const merchant = await newMerchant()
    const order = await merchant.create()
    const { item } = await merchant.strays(order)
    const signed = (revision: number, status: 'accepted' | 'failed') =>
      message('authorization.changed', {
        ...{ chain_id: order.payment.chain_id, order_id: order.id, attempt: 1, revision, status, payer_address: PAYOUT },
        ...{ amount: order.usdc_amount, valid_before: Math.floor(Date.parse(order.expires_at) / 1_000), tx_hash: null, reason: null },
      })
    await system.bus.publish(signed(1, 'accepted'))
    const answer = await attach(merchant, item, order)
    expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining('signature')])
    await system.bus.publish(signed(2, 'failed'))
    expect((await attach(merchant, item, order)).body).toMatchObject({ status: 'paid' })
  })

  it('where the order is of a payout address of before', async () => {
    const merchant = await newMerchant()
    const before = await request(system.url).post('/api/v1/orders').set(asMerchant(merchant.id, PAYOUT)).send({ brl_amount: '542.00' })
    const { item } = await merchant.strays(await merchant.create())
    const answer = await attach(merchant, item, before.body)
    expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining('wrong_recipient')])
  })

  it('to who has named the same payout address later, and once its key has signed for another, until it has for them', async () => {
    const merchant = await newMerchant()
    const rival = await newMerchant(merchant.payout, 1_800_000)
    const [order, taking] = [await merchant.create(), await rival.create()]
    const { item } = await merchant.strays(order)
    const before = [await merchant.entries(), await rival.entries()]
    const shared = [409, expect.stringContaining('payout-address/sign')]
    const refused = async (by: typeof merchant, of: OrderBody) => {
      const answer = await attach(by, item, of)
      expect([answer.status, answer.body.detail]).toEqual(shared)
    }
    await refused(rival, taking)
    await rival.proves()
    await refused(merchant, order)
    expect([await merchant.entries(), await rival.entries()]).toEqual(before)
    await merchant.proves()
    expect((await attach(merchant, item, order)).body).toMatchObject({ status: 'paid' })
    expect(await merchant.entries()).toContainEqual(['payment', '100.000000', order.id, null])
  })

  it('to none who has named the payout address first, as long as no other has signed with its key', async () => {
    const merchant = await newMerchant()
    await newMerchant(merchant.payout, 1_800_000)
    const order = await merchant.create()
    const { item } = await merchant.strays(order)
    expect((await attach(merchant, item, order)).body).toMatchObject({ status: 'paid' })
  })

  it('to others, for an order of others, without a reason, and where there is nothing', async () => {
    const [merchant, stranger] = [await newMerchant(), await newMerchant()]
    const [order, foreign] = [await merchant.create(), await stranger.create()]
    const { item } = await merchant.strays(order)
    const statuses = [
      attach(stranger, item, foreign),
      attach(merchant, item, foreign),
      merchant.post(`/attention/${item.id}/attach`, { order_id: order.id }),
      merchant.post(`/attention/${uuidv7()}/attach`, { order_id: order.id, reason: 'x' }),
      merchant.post(`/attention/${item.id}/attach`, { order_id: uuidv7(), reason: 'x' }),
      // An order is in the list as well; it is not money without one.
      merchant.post(`/attention/${order.id}/attach`, { order_id: order.id, reason: 'x' }),
    ]
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([404, 403, 400, 404, 404, 404])
    expect((await merchant.items()).map(({ id }) => id)).toEqual([item.id])
  })
})
