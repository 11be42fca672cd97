import { randomBytes } from 'node:crypto'
import { type AttentionItemBody, type EntryBody, NO_MEMO, type OrderBody, type PayoutWatch } from '@ponte/contracts'
import { depositAddress } from '@ponte/payment-router'
import { until, uuidv7 } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import fc from 'fast-check'
import request from 'supertest'
import { openStore } from '../src/store'
import { charge, listener, message } from './listener'
import { asMerchant, ROUTER, startOrders } from './setup'

/** The second network of these orders; anvil's is the first. */
const POLYGON = {
  network: 'polygon',
  chain_id: 137,
  token_address: `0x${'3c'.repeat(20)}`,
  router_address: ROUTER,
  deposit_factory: ROUTER,
}
const env = { DEPOSIT_FACTORY: ROUTER, OTHER_NETWORKS: JSON.stringify([POLYGON]), RECONCILE_EVERY_S: '1' }
const there = { chain_id: 137, token_address: POLYGON.token_address.toLowerCase() }
const ZERO = `0x${'0'.repeat(40)}`

let system: Awaited<ReturnType<typeof startOrders>>
let first: ReturnType<typeof listener>
let second: ReturnType<typeof listener>
beforeAll(async () => {
  system = await startOrders(env)
  first = listener(system.bus)
  second = listener(system.bus)
})
afterAll(() => system.stop())

/** A merchant whose account is paid on the first network, and whose safe on the second. */
function merchantWith(own: Record<string, string> = { 137: Wallet.createRandom().address }) {
  const [id, account] = [uuidv7(), Wallet.createRandom().address]
  let version = 0
  const terms = (change: object = {}) => ({
    ...{ merchant_id: id, version: ++version, display_name: 'Padaria', payout_address: account, payout_addresses: own },
    ...change,
  })
  const by = (change: object = {}) => asMerchant(id, account, 'ana', { payout_addresses: own, ...change })
  const get = async (path: string) => (await request(system.url).get(`/api/v1/${path}`).set(by())).body
  const post = (path: string, body: object = {}, change: object = {}) =>
    request(system.url).post(`/api/v1/${path}`).set(by(change)).send(body)
  return {
    id,
    account,
    safe: own[137] ?? account,
    get,
    post,
    create: async (change: object = {}): Promise<OrderBody> => (await post('orders', { brl_amount: '54.20' }, change)).body,
    read: ({ id: order }: OrderBody): Promise<OrderBody> => get(`orders/${order}`),
    entries: async (): Promise<EntryBody[]> => (await get('entries?limit=100')).data,
    attention: async (): Promise<AttentionItemBody[]> => (await get('attention')).data,
    /** As the gateway publishes it. */
    async updated(change: object = {}, since = new Date(Date.now() - 3_600_000)) {
      const secrets = { webhook_url: null, sealed_webhook_secret: 'sealed', sealed_pending_webhook_secret: null }
      const data = { ...terms(change), ...secrets, pending_webhook_secret_activates_at: null }
      await system.bus.publish(message('merchant.updated', data, uuidv7(), since))
    },
  }
}
const depositOn = (order: OrderBody, chainId: number) =>
  order.payment.networks?.find(({ chain_id }) => chain_id === chainId)?.deposit_address
/** The same order as its payers see it on the second network. */
const onSecond = (order: OrderBody, merchant_address: string): OrderBody => ({
  ...order,
  payment: { ...order.payment, merchant_address, deposit_address: depositOn(order, 137) ?? null },
})
const reasonOf = async ({ memo }: { memo: string }) =>
  (await system.sql.query('SELECT reason FROM unmatched_payments WHERE memo = $1', [memo])).rows.map(({ reason }) => reason)
const short = ({ kind, amount, chain_id, address }: EntryBody) => [kind, amount, chain_id, address?.toLowerCase() ?? null]

describe('an order of a merchant who is paid elsewhere on one network', () => {
  it('has a deposit address of its own there, and everything else as it was', async () => {
    const shop = merchantWith()
    const order = await shop.create()
    const address = (merchant: string) => depositAddress({ router: ROUTER, memo: order.memo, merchant })
    expect(order.payment).toMatchObject({ merchant_address: shop.account, deposit_address: address(shop.account) })
    const [one, other] = order.payment.networks ?? []
    expect(one).toMatchObject({ chain_id: 31_337, deposit_address: address(shop.account) })
    expect(one?.merchant_address).toBeUndefined()
    expect(other).toMatchObject({ chain_id: 137, merchant_address: shop.safe, deposit_address: address(shop.safe) })
    expect(other?.payment_uri).toContain(`address=${address(shop.safe)}`)
    const asked = async () => {
      const { rows } = await system.sql.query(
        `SELECT DISTINCT body::jsonb #> '{data,chain_id}' AS chain, asked ->> 'merchant_address' AS merchant, asked ->> 'deposit_address' AS address
         FROM outbox, jsonb_array_elements(body::jsonb #> '{data,orders}') AS asked WHERE type = 'deposit.watch' AND asked ->> 'order_id' = $1 ORDER BY 1`,
        [order.id],
      )
      return rows
    }
    await until(async () => (await asked()).length === 2, 'a listener is not asked')
    expect(await asked()).toEqual([
      { chain: 137, merchant: shop.safe, address: address(shop.safe) },
      { chain: 31_337, merchant: shop.account, address: address(shop.account) },
    ])
    expect((await shop.get(`orders?deposit_address=${address(shop.safe)}`)).data.map(({ id }: OrderBody) => id)).toEqual([order.id])
    expect((await shop.get(`orders?text=${address(shop.safe)}`)).data.map(({ id }: OrderBody) => id)).toEqual([order.id])
  })

  it('is paid by what goes to the address of each network alone', async () => {
    const shop = merchantWith()
    const order = await shop.create()
    const half = { gross: 5_000_000n }
    // A stranger calls each router with the address of the other network.
    await first.report('confirmed', first.payment(order, { merchant_address: shop.safe.toLowerCase() }))
    await second.report('confirmed', second.payment(order, { ...there, merchant_address: shop.account.toLowerCase() }))
    await second.report('confirmed', second.transfer(order, { ...there, merchant_address: shop.account.toLowerCase() }))
    expect([(await shop.read(order)).status, await reasonOf(order)]).toEqual(['pending', Array(3).fill('wrong_recipient')])
    await second.report('confirmed', second.payment(onSecond(order, shop.safe), { ...there, ...half }))
    await second.report('confirmed', second.transfer(onSecond(order, shop.safe), { ...there, ...half }))
    expect(await shop.read(order)).toMatchObject({ status: 'paid', received: '9.900000' })
  })

  it('is settled and booked by what is swept to the address of its network, and by nothing else', async () => {
    const shop = merchantWith()
    await shop.updated()
    const order = await shop.create()
    await second.report('confirmed', second.transfer(onSecond(order, shop.safe), there))
    await second.sweeps('confirmed', onSecond(order, shop.account), 10_000_000n, {
      ...there,
      deposit_address: String(depositOn(order, 31_337)),
    })
    await system.orders.idle()
    expect([(await shop.read(order)).payments?.[0]?.settlement.status, await system.chosen(order.id)]).toEqual(['pending', []])
    const swept = await second.sweeps('confirmed', onSecond(order, shop.safe), 10_000_000n, { ...there, fee: '0.100000' })
    await system.orders.idle()
    expect((await shop.read(order)).payments?.[0]?.settlement).toEqual({ status: 'settled', tx_hash: swept.tx_hash })
    expect(await system.chosen(order.id)).toMatchObject([
      { type: 'order.settled', data: { order: { settlement_tx_hash: swept.tx_hash, payout_address: shop.safe } } },
    ])
    expect((await shop.entries()).map(short)).toEqual([
      ['payment', '10.000000', 137, depositOn(order, 137)?.toLowerCase()],
      ['fee', '0.100000', 137, null],
      ['settled', '9.900000', 137, shop.safe.toLowerCase()],
    ])
    const store = openStore(system.sql, { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined })
    expect(await store.ledger.unbooked(0n, 1_000_000n)).toEqual([])
  })

  it('gives money back from the address of the network on which it came', async () => {
    const shop = merchantWith()
    const order = await shop.create()
    await second.report('confirmed', second.payment(onSecond(order, shop.safe), there))
    const payee_address = Wallet.createRandom().address
    const returned = async (body: object) =>
      (await shop.post(`orders/${order.id}/refunds`, { payee_address, reason: 'It came back', amount: '1.00', ...body })).body
    expect(await returned({})).toMatchObject({ from_address: shop.safe, chain_id: 137 })
    expect(await returned({ chain_id: 31_337 })).toMatchObject({ from_address: shop.account, chain_id: 31_337 })
    expect(await returned({ payee_address: shop.safe })).toMatchObject({ code: 'invalid_request' })
    expect(await returned({ payee_address: shop.account })).toMatchObject({ from_address: shop.safe })
  })

  it('keeps its addresses when another one is named, or none any more', async () => {
    const shop = merchantWith()
    await shop.updated()
    const order = await shop.create()
    await shop.updated({ payout_addresses: { 137: Wallet.createRandom().address } })
    await shop.updated({ payout_addresses: {}, payout_address: Wallet.createRandom().address })
    await second.report('confirmed', second.payment(onSecond(order, shop.safe), there))
    expect(await shop.read(order)).toMatchObject({
      status: 'paid',
      payment: { merchant_address: shop.account, networks: order.payment.networks?.map(({ deposit_address }) => ({ deposit_address })) },
    })
    expect((await shop.entries()).map(short).at(-1)).toEqual(['settled', '9.900000', 137, shop.safe.toLowerCase()])
  })

  it('has one address on all networks where the one that is named is the same', async () => {
    const account = Wallet.createRandom().address
    const shop = merchantWith({ 137: account })
    const order = await shop.create({ payout_address: account })
    expect(order.payment.networks?.map(({ deposit_address }) => deposit_address)).toEqual(Array(2).fill(order.payment.deposit_address))
    expect(order.payment.networks?.map(one => Object.keys(one).includes('merchant_address'))).toEqual([false, false])
  })

  it('is one of which no address there can be a payout address', async () => {
    const shop = merchantWith()
    const order = await shop.create()
    for (const chainId of [31_337, 137]) {
      expect(await shop.get(`payout-addresses/${depositOn(order, chainId)}`)).toMatchObject({ code: 'payout_address_refused' })
    }
  })

  it('is, of a plan or a gateway of the release before, paid where the last event named it', async () => {
    const shop = merchantWith()
    await shop.updated()
    // A gateway of the release before changes something else.
    await shop.updated({ payout_addresses: undefined, display_name: 'Padaria Nova' })
    const asked = charge({ terms: { merchant_id: shop.id, version: 1, display_name: 'Padaria', payout_address: shop.account } })
    await system.bus.publish(message('subscription.charge_requested', asked))
    await until(async () => (await shop.get(`orders/${asked.order_id}`)).id !== undefined, 'the charge is not opened')
    const opened: OrderBody[] = [await shop.get(`orders/${asked.order_id}`), await shop.create({ version: 9, payout_addresses: undefined })]
    for (const { payment } of opened) expect(payment.networks?.[1]?.merchant_address).toBe(shop.safe)
    await shop.updated({ payout_addresses: {} })
    const later = await shop.create({ version: 9, payout_addresses: undefined })
    expect(later.payment.networks?.[1]?.merchant_address).toBeUndefined()
  })
})

describe('an order that does not offer the network for which another address is named', () => {
  it('is watched there at the address that its payers see, which is counted and booked at the merchant`s word', async () => {
    const shop = merchantWith()
    await shop.updated()
    const order = await shop.create({ chain_ids: [31_337] })
    const asked = async () => {
      const { rows } = await system.sql.query(
        `SELECT asked ->> 'deposit_address' AS address, asked ->> 'merchant_address' AS merchant FROM outbox, jsonb_array_elements(body::jsonb #> '{data,orders}') AS asked
         WHERE type = 'deposit.watch' AND body::jsonb #>> '{data,chain_id}' = '137' AND asked ->> 'order_id' = $1`,
        [order.id],
      )
      return rows
    }
    await until(async () => (await asked()).length > 0, 'the second listener is not asked')
    expect(await asked()).toEqual([{ address: order.payment.deposit_address, merchant: shop.account }])
    await second.report('confirmed', second.transfer(order, there))
    const [item] = await shop.attention()
    expect(item).toMatchObject({ actions: ['attach'], payment: { reason: 'wrong_chain', chain_id: 137, memo: order.memo } })
    await shop.post(`attention/${item?.id}/attach`, { order_id: order.id, reason: 'The wrong network' })
    const paid = await shop.read(order)
    expect(paid).toMatchObject({ status: 'paid', received: '9.900000' })
    expect(paid.payment.networks?.map(one => [one.chain_id, one.deposit_address, one.merchant_address])).toEqual([
      [31_337, order.payment.deposit_address, undefined],
      [137, order.payment.deposit_address, undefined],
    ])
    await second.sweeps('confirmed', order, 10_000_000n, { ...there, fee: '0.100000' })
    await system.orders.idle()
    expect((await shop.entries()).map(short).slice(-3)).toEqual([
      ['payment', '10.000000', 137, order.payment.deposit_address?.toLowerCase()],
      ['fee', '0.100000', 137, null],
      ['settled', '9.900000', 137, shop.account.toLowerCase()],
    ])
    // A dossier of it lists the address that it reached.
    const { merchants } = openStore(system.sql, { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined })
    const spans = await merchants.provenSpans({ merchant_id: shop.id, payout_address: shop.account }, 137)
    expect(spans.map(({ payoutAddress }) => payoutAddress)).toEqual([shop.safe, shop.account])
  })
})

describe('money without an order', () => {
  it('is the merchant’s at the address of its network, and not where that is another one', async () => {
    const shop = merchantWith()
    await shop.updated()
    const order = await shop.create()
    const stray = async (chain: ReturnType<typeof listener>, merchant: string, change: object = {}) => {
      const paid = chain.payment(
        { ...order, memo: randomBytes(32).toString('hex') },
        { merchant_address: merchant.toLowerCase(), ...change },
      )
      await chain.report('confirmed', paid)
      return paid.memo
    }
    const mine = [await stray(second, shop.safe, there), await stray(first, shop.account)]
    await stray(first, shop.safe)
    await stray(second, shop.account, there)
    expect((await shop.attention()).map(({ payment }) => payment?.memo).toSorted()).toEqual(mine.toSorted())
    expect((await shop.entries()).filter(({ kind }) => kind === 'unmatched')).toHaveLength(2)
    const noticed = await system.sql.query("SELECT FROM outbox WHERE type = 'order.payment_unmatched' AND body LIKE $1", [`%${shop.id}%`])
    expect(noticed.rows).toHaveLength(2)
  })

  it('is the merchant’s from the moment on in which they named the address, also when that becomes known later', async () => {
    const shop = merchantWith()
    await shop.updated({ payout_addresses: {} })
    const order = await shop.create()
    const paid = (merchant: string) => {
      const block_time = new Date().toISOString()
      return second.payment(
        { ...order, memo: randomBytes(32).toString('hex') },
        { ...there, merchant_address: merchant.toLowerCase(), block_time },
      )
    }
    await second.report('confirmed', paid(shop.safe))
    await second.report('confirmed', paid(shop.account))
    expect((await shop.entries()).map(short)[0]).toEqual(['unmatched', '10.000000', 137, null])
    expect(await shop.attention()).toHaveLength(1)
    await shop.updated({}, new Date(Date.now() - 60_000))
    const addresses = (await shop.entries()).filter(({ kind }) => kind === 'settled').map(({ address }) => address)
    expect(addresses.at(-1)).toBe(shop.safe.toLowerCase())
    expect(await shop.attention()).toMatchObject([{ payment: { merchant_address: shop.safe.toLowerCase() } }])
  })

  it('that is sent plainly to it is watched there, and booked', async () => {
    const shop = merchantWith()
    await shop.updated()
    const watched = async () => {
      const { rows } = await system.sql.query<{ body: string }>("SELECT body FROM outbox WHERE type = 'payout.watch'")
      const data: PayoutWatch[] = rows.map(({ body }) => JSON.parse(body).data)
      return data.flatMap(({ chain_id, payouts }) =>
        payouts.filter(({ address }) => [shop.safe, shop.account].includes(address)).map(({ address }) => [chain_id, address]),
      )
    }
    await second.publish({ chain_id: 137 })
    await first.publish({})
    await shop.updated()
    const places = async () => [...new Set((await watched()).map(String))].toSorted()
    await until(async () => (await places()).length === 2, 'not watched')
    expect(await places()).toEqual([`137,${shop.safe}`, `31337,${shop.account}`])
    const direct = second.payment(await shop.create(), {
      ...{ ...there, kind: 'transfer', memo: NO_MEMO, router_address: ZERO, gross: 5_000_000n },
      ...{ merchant_address: shop.safe, deposit_address: shop.safe },
    })
    await second.report('confirmed', direct)
    expect((await shop.entries()).map(short)).toEqual([['direct', '5.000000', 137, shop.safe.toLowerCase()]])
  })
})

it('where a merchant was paid is kept once for each address, in whatever order their versions come, and however often they take another name', async () => {
  const store = openStore(system.sql, { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined })
  const began = Date.UTC(2026, 10, 1)
  const since = (version: number) => began + version * 10_000
  const pairs = fc.array(fc.record({ address: fc.constantFrom(0, 1, 2), own: fc.constantFrom(0, 1, 2) }), { minLength: 1, maxLength: 7 })
  const plans = pairs.chain(versions =>
    fc.tuple(fc.constant(versions), fc.shuffledSubarray([...versions.keys()], { minLength: versions.length })),
  )
  const known = [Wallet.createRandom().address, Wallet.createRandom().address]
  await fc.assert(
    fc.asyncProperty(plans, async ([versions, order]) => {
      const { id } = merchantWith()
      const named = versions.map(({ address, own }) => ({
        payout_address: known[address] ?? null,
        payout_addresses: known[own] ? { 137: known[own] } : {},
      }))
      for (const index of order) {
        const secrets = {
          webhook_url: null,
          sealed_webhook_secret: 'x',
          sealed_pending_webhook_secret: null,
          pending_webhook_secret_activates_at: null,
        }
        const terms = { ...{ merchant_id: id, version: index + 1, display_name: 'Padaria' }, ...secrets, ...named[index] }
        await store.merchants.save({ payout_address: null, ...terms }, new Date(since(index)), [31_337, 137], uuidv7())
      }
      for (const [index, { payout_address, payout_addresses }] of named.entries())
        for (const chain of [31_337, 137])
          for (const address of known) {
            const { rows } = await system.sql.query('SELECT paid_at($1, $2, $3) AS id', [address, new Date(since(index) + 5_000), chain])
            const isTheirs = (Object(payout_addresses)[chain] ?? payout_address) === address
            expect(rows.some(row => row.id === id)).toBe(isTheirs)
          }
    }),
    { numRuns: 40 },
  )
  const shop = merchantWith()
  for (let turn = 0; turn < 20; turn++) await shop.updated({ display_name: `Padaria ${turn}` })
  const { rows } = await system.sql.query('SELECT count(*)::int AS count FROM payout_addresses WHERE merchant_id = $1', [shop.id])
  expect(rows).toEqual([{ count: 1 }])
})
