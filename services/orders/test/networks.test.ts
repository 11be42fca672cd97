import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type AttentionItemBody,
  type AuthorizationChanged,
  type ChainBlocks,
  type CheckoutBody,
  type EntryBody,
  type OrderBody,
  topology,
} from '@ponte/contracts'
import { memoryBus, readConfig, silentLogger, until, uuidv7 } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import request from 'supertest'
import { createOrders, ordersConfig } from '../src'
import { openStore } from '../src/store'
import { charge, listener, message } from './listener'
import { asMerchant, asPayer, PAYOUT, ROUTER, settings, startOrders } from './setup'

/** The second network of these orders; anvil's is the first. */
const POLYGON = {
  network: 'polygon',
  chain_id: 137,
  token_address: `0x${'3c'.repeat(20)}`,
  router_address: ROUTER,
  deposit_factory: ROUTER,
}

let system: Awaited<ReturnType<typeof startOrders>>
let first: ReturnType<typeof listener>
let second: ReturnType<typeof listener>
beforeAll(async () => {
  system = await startOrders({
    DEPOSIT_FACTORY: ROUTER,
    OTHER_NETWORKS: JSON.stringify([{ ...POLYGON, confirmations: 5 }]),
    RECONCILE_EVERY_S: '1',
  })
  first = listener(system.bus)
  second = listener(system.bus)
})
afterAll(() => system.stop())

let expiresIn = 600
const create = async (): Promise<OrderBody> => {
  expiresIn += 15_000
  const body = { brl_amount: '54.20', expires_in: expiresIn }
  return (await request(system.url).post('/api/v1/orders').set(asMerchant()).send(body)).body
}
const read = async ({ id }: OrderBody): Promise<OrderBody> => (await request(system.url).get(`/api/v1/orders/${id}`).set(asMerchant())).body
const types = async ({ id }: OrderBody) => (await system.published(id)).map(({ type }) => type)
const at = (order: OrderBody, seconds: number) => new Date(Date.parse(order.expires_at) + seconds * 1000)
const watched = (...orders: OrderBody[]) => orders.map(({ id }) => ({ order_id: id, through: 0 }))
const there = { chain_id: 137, token_address: POLYGON.token_address.toLowerCase() }
/** Both networks are known up to this time. */
const advances = async (time: Date, change: Partial<ChainBlocks> = {}) => {
  await system.bus.publish(first.advance(time, change))
  await system.bus.publish(second.advance(time, { chain_id: 137, ...change }))
}

describe('an order that may be paid on two networks', () => {
  it('asks the listener of each to watch its address there', async () => {
    const order = await create()
    const asked = async () => {
      const { rows } = await system.sql.query(
        `SELECT DISTINCT body::jsonb #> '{data,chain_id}' AS chain, asked ->> 'deposit_address' AS address
         FROM outbox, jsonb_array_elements(body::jsonb #> '{data,orders}') AS asked WHERE type = 'deposit.watch' AND asked ->> 'order_id' = $1 ORDER BY 1`,
        [order.id],
      )
      return rows
    }
    await until(async () => (await asked()).length === 2, 'a listener is not asked')
    const uri = `ethereum:${POLYGON.token_address}@137/transfer?address=${order.payment.deposit_address}&uint256=10000000`
    expect(order.payment.networks).toMatchObject([
      { network: 'anvil', chain_id: 31337, confirmations: 12, typical_seconds: 12, payment_uri: order.payment.payment_uri },
      { network: 'polygon', chain_id: 137, confirmations: 5, typical_seconds: 10, payment_uri: uri, gasless: true },
    ])
    // The same contract stands at the same address on both.
    const address = order.payment.deposit_address
    expect(await asked()).toEqual([
      { chain: 137, address },
      { chain: 31337, address },
    ])
  })

  it('adds up halves of both, completed by the later block time, whichever is reported first', async () => {
    const order = await create()
    const half = { gross: 5_000_000n }
    const early = first.payment(order, { ...half, block_number: 900_000, block_time: at(order, -60).toISOString() })
    const late = second.payment(order, { ...half, ...there, block_number: 7, block_time: at(order, -30).toISOString() })
    await second.report('confirmed', late)
    expect((await read(order)).status).toBe('underpaid')
    await first.report('confirmed', early)
    await until(async () => (await read(order)).status === 'paid', 'not paid')
    const paid = await read(order)
    expect([paid.tx_hash, await types(order)]).toEqual([late.tx_hash, ['order.underpaid', 'order.paid']])
    expect(paid.payments?.map(({ network, chain_id, tx_hash }) => [network, chain_id, tx_hash])).toEqual([
      ['anvil', 31337, early.tx_hash],
      ['polygon', 137, late.tx_hash],
    ])
    const csv = (await request(system.url).get('/api/v1/orders.csv?rows=payments').set(asMerchant())).text.split('\r\n')
    const chainOf = ({ tx_hash }: { tx_hash: string }) =>
      csv
        .find(line => line.includes(tx_hash))
        ?.split(',')
        .at(-1)
    expect([csv[0]?.split(',').at(-1), chainOf(early), chainOf(late)]).toEqual(['chain_id', '31337', '137'])
  })

  it('a half that was mined after the end makes it late, however small its block number', async () => {
    const order = await create()
    const half = { gross: 5_000_000n }
    await first.report('confirmed', first.payment(order, { ...half, block_number: 900_001, block_time: at(order, -60).toISOString() }))
    await second.report('confirmed', second.payment(order, { ...half, ...there, block_number: 8, block_time: at(order, 5).toISOString() }))
    await advances(at(order, 10), { watched: watched(order) })
    await until(async () => (await read(order)).status === 'expired', 'not expired')
    expect((await read(order)).exception).toBe('paid_late')
  })

  it('is narrowed to the networks that its merchant names, of which the first has to be one', async () => {
    const ask = (chain_ids: number[]) =>
      request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '54.20', chain_ids })
    const narrowed = (await ask([31_337])).body
    expect(narrowed.payment).toMatchObject({ chain_id: 31_337 })
    expect(narrowed.payment.networks).toBeUndefined()
    expect((await ask([137, 31_337])).body.payment.networks).toMatchObject([{ chain_id: 31_337 }, { chain_id: 137 }])
    for (const [chainIds, detail] of [
      [[137], 'must name 31337'],
      [[31_337, 10], 'must be of the networks here: 31337, 137'],
      [[], 'chain_ids'],
    ] as const) {
      const { status, body } = await ask([...chainIds])
      expect([status, body.code, body.detail]).toEqual([400, 'invalid_request', expect.stringContaining(detail)])
    }
  })

  it('is narrowed by its merchant, and further by itself, and not beyond', async () => {
    const ask = (chosen: number[] | null, chain_ids?: number[]) =>
      request(system.url)
        .post('/api/v1/orders')
        .set(asMerchant(undefined, undefined, undefined, { chain_ids: chosen }))
        .send({ brl_amount: '54.20', ...(chain_ids ? { chain_ids } : {}) })
    const chains = ({ payment }: OrderBody) => payment.networks?.map(({ chain_id }) => chain_id)
    expect(chains((await ask(null)).body)).toEqual([31_337, 137])
    expect(chains((await ask([137, 31_337])).body)).toEqual([31_337, 137])
    expect(chains((await ask([31_337, 137], [31_337])).body)).toBeUndefined()
    // One network that is followed no more.
    expect(chains((await ask([31_337, 10])).body)).toBeUndefined()
    const { status, body } = await ask([31_337], [31_337, 137])
    expect([status, body.code, body.errors]).toEqual([
      ...[400, 'invalid_request'],
      [{ path: 'chain_ids', message: 'must be of the networks here: 31337' }],
    ])
  })

  describe('and was signed for', () => {
    const checkout = async ({ id }: OrderBody): Promise<CheckoutBody> =>
      (await request(system.url).get(`/api/v1/checkout/${id}`).set(asPayer())).body
    const report = (order: OrderBody, chain_id: number, change: Partial<AuthorizationChanged>) =>
      system.bus.publish(
        message('authorization.changed', {
          ...{
            chain_id,
            order_id: order.id,
            attempt: 1,
            revision: 1,
            status: 'accepted',
            payer_address: PAYOUT,
            tx_hash: null,
            reason: null,
          },
          ...{ amount: order.usdc_amount, valid_before: Math.floor(Date.parse(order.expires_at) / 1_000) },
          ...change,
        }),
      )

    it('on both of them asks for nothing until neither is on its way, whichever fails first', async () => {
      const order = await create()
      await report(order, 137, {})
      expect(await checkout(order)).toMatchObject({ due: '0.000000', authorization: { status: 'accepted', chain_id: 137 } })
      await report(order, 31_337, {})
      await report(order, 137, { revision: 2, status: 'failed', reason: 'expired' })
      expect(await checkout(order)).toMatchObject({ due: '0.000000', authorization: { status: 'accepted', chain_id: 31_337 } })
      await report(order, 31_337, { revision: 2, status: 'failed', reason: 'reverted' })
      expect(await checkout(order)).toMatchObject({ due: order.usdc_amount, authorization: { status: 'failed' } })
    })

    it('on both of them and paid by both is paid once, and the second is a duplicate', async () => {
      const order = await create()
      const [one, two] = [first.payment(order), second.payment(order, there)]
      await report(order, 31_337, { status: 'submitted', tx_hash: one.tx_hash })
      await report(order, 137, { status: 'submitted', tx_hash: two.tx_hash })
      await first.report('confirmed', one)
      await second.report('confirmed', two)
      await until(async () => (await read(order)).exception === 'duplicate', 'no duplicate')
      expect(await types(order)).toEqual(['order.paid'])
      expect(await checkout(order)).toMatchObject({ status: 'paid', due: '0.000000' })
    })

    it('goes back without a named address on the network where its payer signed alone: a contract that signed need not stand on another one', async () => {
      const order = await create()
      const payment = second.payment(order, { ...there, payer_address: Wallet.createRandom().address.toLowerCase() })
      await report(order, 137, { status: 'paid', tx_hash: payment.tx_hash })
      await second.report('confirmed', payment)
      const refund = async (chain_id: number) => {
        const body = { reason: 'x', amount: '1.00', chain_id }
        return request(system.url).post(`/api/v1/orders/${order.id}/refunds`).set(asMerchant()).send(body)
      }
      expect(await refund(31_337)).toMatchObject({ status: 400, body: { errors: [{ path: 'payee_address' }] } })
      expect(await refund(137)).toMatchObject({ status: 201 })
    })

    it('is on its way no more once the listener of its network has forgotten it, and is not touched by that of the other', async () => {
      const order = await create()
      const forgotten = { status: 'submitted', tx_hash: `0x${'3'.repeat(64)}` } as const
      await report(order, 137, { ...forgotten, generation: second.generation() })
      first.beginAnew()
      await first.publish({ watched: watched(order) })
      expect(await checkout(order)).toMatchObject({ due: '0.000000' })
      second.beginAnew()
      await second.publish({ chain_id: 137, watched: watched(order) })
      expect(await checkout(order)).toMatchObject({
        due: order.usdc_amount,
        authorization: { status: 'failed', reason: 'not_sent', chain_id: 137 },
      })
    })
  })

  it('of a plan, a link or a gateway of the release before is offered on the networks that the last event of its merchant named', async () => {
    const terms = { ...charge().terms, merchant_id: uuidv7(), payout_address: Wallet.createRandom().address }
    const secrets = {
      ...{ webhook_url: null, sealed_webhook_secret: 'sealed', sealed_pending_webhook_secret: null },
      pending_webhook_secret_activates_at: null,
    }
    const publish = (change: object) => system.bus.publish(message('merchant.updated', { ...terms, ...secrets, ...change }))
    const older = () => asMerchant(terms.merchant_id, terms.payout_address)
    const isNarrow = async () => {
      const asked = charge({ terms })
      await system.bus.publish(message('subscription.charge_requested', asked))
      const read = async () => (await request(system.url).get(`/api/v1/orders/${asked.order_id}`).set(older())).body as OrderBody
      await until(async () => (await read()).id !== undefined, 'the charge is not opened')
      const link = (
        await request(system.url)
          .post('/api/v1/links')
          .set(older())
          .send({ kind: 'invoice', brl_amount: '54.20', description: 'Consulting' })
      ).body
      const { pathname } = new URL(link.url)
      const opened = await request(system.url)
        .post(`/api/v1/payer/links/${pathname.replace('/pay/link/', '')}/order`)
        .set(asPayer())
        .send({})
      const [ofLink, own] = [
        await request(system.url).get(`/api/v1/orders/${opened.body.order.id}`).set(older()),
        await request(system.url).post('/api/v1/orders').set(older()).send({ brl_amount: '54.20' }),
      ]
      return [await read(), ofLink.body, own.body].map(({ payment }) => payment.networks === undefined)
    }
    const known = async () => (await system.sql.query('SELECT version FROM merchants WHERE id = $1', [terms.merchant_id])).rows[0]?.version
    await publish({ version: 2, chain_ids: [31_337] })
    await until(async () => (await known()) === 2, 'the terms are not known')
    expect(await isNarrow()).toEqual([true, true, true])
    // A gateway of the release before changes something else.
    await publish({ version: 3 })
    await until(async () => (await known()) === 3, 'the terms are not known')
    expect(await isNarrow()).toEqual([true, true, true])
    await publish({ version: 4, chain_ids: null })
    await until(async () => (await known()) === 4, 'the terms are not known')
    expect(await isNarrow()).toEqual([false, false, false])
  })

  it('is of the networks that are listed', async () => {
    const { body } = await request(system.url).get('/api/v1/networks').set(asPayer())
    expect(body).toMatchObject({
      object: 'list',
      data: [
        { network: 'anvil', chain_id: 31_337, suspended: false },
        { network: 'polygon', chain_id: 137, token_address: POLYGON.token_address, suspended: false },
      ],
    })
  })

  describe('that offers one of them', () => {
    const narrowed = async (): Promise<OrderBody> => {
      expiresIn += 15_000
      const body = { brl_amount: '54.20', expires_in: expiresIn, chain_ids: [31_337] }
      return (await request(system.url).post('/api/v1/orders').set(asMerchant()).send(body)).body
    }
    const transfer = (order: OrderBody, change: object = {}) =>
      second.payment(order, { ...there, kind: 'transfer', deposit_address: order.payment.deposit_address, ...change })
    const itemOf = async (order: OrderBody): Promise<AttentionItemBody | undefined> => {
      const { body } = await request(system.url).get('/api/v1/attention').set(asMerchant())
      return body.data.find(({ payment }: AttentionItemBody) => payment?.memo === order.memo)
    }
    const count = (item: AttentionItemBody | undefined, order: OrderBody, url = system.url) =>
      request(url).post(`/api/v1/attention/${item?.id}/attach`).set(asMerchant()).send({ order_id: order.id, reason: 'the payer chose it' })

    it('is watched on the other: what comes there needs attention, and counts once its merchant counts it', async () => {
      const order = await narrowed()
      await until(async () => {
        const { rows } = await system.sql.query(
          "SELECT DISTINCT body::jsonb #> '{data,chain_id}' FROM outbox WHERE type = 'deposit.watch' AND body LIKE $1",
          [`%${order.id}%`],
        )
        return rows.length === 2
      }, 'not watched on both')
      const [half, rest] = [transfer(order, { gross: 4_000_000n }), transfer(order, { gross: 6_000_000n })]
      await second.report('confirmed', half)
      expect((await read(order)).status).toBe('pending')
      const item = await itemOf(order)
      expect(item).toMatchObject({ reasons: ['unmatched'], actions: ['attach'], payment: { reason: 'wrong_chain', chain_id: 137 } })
      const elsewhere = await count(item, await create())
      expect([elsewhere.status, elsewhere.body.code]).toEqual([409, 'invalid_state'])
      const counted = await count(item, order)
      expect([counted.status, counted.body.status]).toEqual([200, 'underpaid'])
      expect(counted.body.payment.networks).toMatchObject([{ chain_id: 31_337 }, { chain_id: 137 }])
      // It offers that network from now on.
      await second.report('confirmed', rest)
      await until(async () => (await read(order)).status === 'paid', 'not paid')
      expect((await read(order)).payments).toMatchObject([{ chain_id: 137 }, { chain_id: 137 }])
    })

    it('counts nothing beside money that its merchant marked as handled', async () => {
      const order = await narrowed()
      await second.report('confirmed', transfer(order, { gross: 6_000_000n }))
      const returned = await itemOf(order)
      const act = (path: string, body: object = {}) =>
        request(system.url).post(`/api/v1/attention/${returned?.id}/${path}`).set(asMerchant()).send(body)
      expect((await act('handle', { facts: returned?.facts })).status).toBe(200)
      await second.report('confirmed', transfer(order, { gross: 4_000_000n }))
      const refused = await count(await itemOf(order), order)
      expect([refused.status, refused.body.code, (await read(order)).status]).toEqual([409, 'invalid_state', 'pending'])
      expect((await act('reopen')).status).toBe(200)
      expect((await count(await itemOf(order), order)).status).toBe(200)
      expect((await read(order)).status).toBe('paid')
    })

    it('takes the rest of what came there with the first payment that is counted', async () => {
      const order = await narrowed()
      await second.report('confirmed', transfer(order, { gross: 4_000_000n }))
      await second.report('confirmed', second.payment(order, { ...there, gross: 6_000_000n }))
      const { body } = await count(await itemOf(order), order)
      // One verdict of all of it: no answer and no event states a part.
      expect([body.status, await types(order)]).toEqual(['paid', ['order.paid']])
      expect(await itemOf(order)).toBeUndefined()
    })

    it('expires whatever the other does, and waits for it once it offers it', async () => {
      const [plain, accepted] = [await narrowed(), await narrowed()]
      await second.report('confirmed', transfer(accepted, { gross: 4_000_000n }))
      expect((await count(await itemOf(accepted), accepted)).body.status).toBe('underpaid')
      await system.bus.publish(first.advance(at(accepted, 10), { watched: watched(plain, accepted) }))
      await until(async () => (await read(plain)).status === 'expired', 'not expired')
      await system.orders.idle()
      expect((await read(accepted)).status).toBe('underpaid')
      await system.bus.publish(second.advance(at(accepted, 10), { chain_id: 137, watched: watched(accepted) }))
      await until(async () => (await read(accepted)).status === 'expired', 'not expired')
    })

    it('does not offer to payers, by what is counted, a network that is followed no more', async () => {
      const order = await narrowed()
      await second.report('confirmed', transfer(order))
      const item = await itemOf(order)
      const config = readConfig(ordersConfig, { ...settings(system.database.url), DEPOSIT_FACTORY: ROUTER })
      const retired = createOrders(config, { bus: memoryBus({ topology, logger: silentLogger }), logger: silentLogger })
      await retired.start()
      try {
        const { status, body } = await count(item, order, `http://127.0.0.1:${retired.http.port()}`)
        expect([status, body.code]).toEqual([409, 'invalid_state'])
      } finally {
        await retired.stop()
      }
      expect((await count(item, order)).body.status).toBe('paid')
    })

    it('is not paid by the rest of what came there where another order of its invoice is', async () => {
      const [order, other] = [await narrowed(), await narrowed()]
      const invoice = { kind: 'invoice', brl_amount: '54.20', description: 'Nota 7' }
      const link = (await request(system.url).post('/api/v1/links').set(asMerchant()).send(invoice)).body
      for (const { id } of [order, other])
        await system.sql.query('INSERT INTO link_orders (order_id, link_id) VALUES ($1, $2)', [id, link.id])
      await second.report('confirmed', transfer(order, { gross: 4_000_000n }))
      await first.report('confirmed', first.payment(other))
      await second.report('confirmed', transfer(order, { gross: 6_000_000n }))
      expect((await count(await itemOf(order), order)).status).toBe(409)
      expect((await read(order)).status).not.toBe('paid')
    })

    describe('of a merchant with another payout address by now', () => {
      const id = '01981f3c-0000-7000-8000-00000000000b'
      const before = Wallet.createRandom().address
      const former = asMerchant(id, before)
      const named = (version: number, payout_address: string, since: Date) =>
        system.bus.publish(
          message(
            'merchant.updated',
            {
              ...{ merchant_id: id, version, display_name: 'Padaria', payout_address },
              ...{ webhook_url: null, sealed_webhook_secret: 'sealed', sealed_pending_webhook_secret: null },
              pending_webhook_secret_activates_at: null,
            },
            undefined,
            since,
          ),
        )
      const ask = async (path: string) => (await request(system.url).get(`/api/v1/${path}`).set(former)).body
      const entries = async () => (await ask('entries')).data.map(({ kind, amount }: { kind: string; amount: string }) => [kind, amount])

      it('is in the list and the ledger, and can be counted', async () => {
        await named(1, before, new Date(Date.now() - 7_200_000))
        const body = { brl_amount: '54.20', chain_ids: [31_337] }
        const order: OrderBody = (await request(system.url).post('/api/v1/orders').set(former).send(body)).body
        await named(2, Wallet.createRandom().address, new Date(Date.now() - 3_600_000))
        await second.report('confirmed', transfer(order))
        expect(await entries()).toEqual([['unmatched', '10.000000']])
        expect((await ask('summary?from=2026-01-01&to=2026-12-31&by=month&timezone=UTC')).to_return).toBe('10.000000')
        const { rows } = await system.sql.query("SELECT FROM outbox WHERE type = 'order.payment_unmatched' AND body LIKE $1", [
          `%${order.memo}%`,
        ])
        expect(rows).toHaveLength(1)
        const [item, ...others] = (await ask('attention')).data
        expect([item.payment.memo, others]).toEqual([order.memo, []])
        const counted = await request(system.url)
          .post(`/api/v1/attention/${item.id}/attach`)
          .set(former)
          .send({ order_id: order.id, reason: 'the payer chose it' })
        expect([counted.status, counted.body.status]).toEqual([200, 'paid'])
        expect((await entries()).slice(1)).toEqual([
          ['unmatched', '-10.000000'],
          ['payment', '10.000000'],
        ])
      })

      it('is not theirs without an order, but from the second on in which the address was named', async () => {
        const [address, second] = [Wallet.createRandom().address, new Date(Math.floor(Date.now() / 1000) * 1000)]
        const stray = async (paidTo: string, seconds: number) => {
          const to = await create()
          const block_time = new Date(second.getTime() + seconds * 1000).toISOString()
          const paid = first.payment(
            { ...to, memo: randomBytes(32).toString('hex') },
            { merchant_address: paidTo.toLowerCase(), block_time },
          )
          await first.report('confirmed', paid)
          return paid.memo
        }
        await named(3, address, new Date(second.getTime() + 900))
        const memos = [await stray(address, -1), await stray(address, 0), await stray(address, 1), await stray(before, 0)]
        const seen = (await ask('attention')).data.map(({ payment }: AttentionItemBody) => payment?.memo)
        expect(seen.toSorted()).toEqual([memos[1], memos[2]].toSorted())
        expect((await entries()).filter(([kind]: string[]) => kind === 'unmatched')).toHaveLength(4)
      })
    })

    it('is settled by what is swept where it was paid alone', async () => {
      const order = await narrowed()
      await first.report('confirmed', first.transfer(order))
      await second.report('confirmed', transfer(order))
      await second.sweeps('confirmed', order, 10_000_000n, there)
      await system.orders.idle()
      const store = openStore(system.sql, { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined })
      expect(await system.chosen(order.id)).toEqual([])
      expect(await store.orders.unsettled(100)).not.toContain(order.id)
      await first.sweeps('confirmed', order, 10_000_000n)
      await system.orders.idle()
      expect((await system.chosen(order.id)).map(({ type }) => type)).toEqual(['order.settled'])
    })

    it('has the fee of what was confirmed, whatever is swept on a network that it does not offer', async () => {
      const order = await narrowed()
      await first.report('confirmed', first.transfer(order))
      await first.sweeps('confirmed', order, 10_000_000n)
      await second.report('confirmed', transfer(order))
      await second.sweeps('confirmed', order, 10_000_000n, there)
      await system.orders.idle()
      const [head = '', ...rows] = (await request(system.url).get('/api/v1/orders.csv').set(asMerchant())).text.split('\r\n')
      const row = rows.find(line => line.startsWith(order.id))?.split(',')
      expect(['gross', 'platform_fee', 'share'].map(name => row?.[head.split(',').indexOf(name)])).toEqual([
        '10.000000',
        '0.100000',
        '9.900000',
      ])
    })

    it('takes the rest first of ten thousand payments of nothing, also of strangers to themselves', async () => {
      const order = await narrowed()
      const stranger = { merchant_address: `0x${'22'.repeat(20)}` }
      const dusts = [second.payment(order, { ...there, gross: 1n, ...stranger }), second.payment(order, { ...there, gross: 1n })]
      await second.report('confirmed', transfer(order, { gross: 4_000_000n }))
      for (const dust of dusts) await second.report('confirmed', dust)
      await system.sql.query(
        `INSERT INTO unmatched_payments (id, log_index, kind, status, reason, memo, chain_id, router_address, token_address, merchant_address, payer_address,
           gross_units, tx_hash, block_number, block_time, block_hash, generation, version)
         SELECT id || ':' || n, n, kind, status, reason, memo, chain_id, router_address, token_address, merchant_address, payer_address,
           gross_units, '0x' || encode(sha256((tx_hash || n)::bytea), 'hex'), block_number, block_time, block_hash, generation, version
         FROM unmatched_payments, generate_series(1, 10000) AS n WHERE tx_hash = ANY($1)`,
        [dusts.map(({ tx_hash }) => tx_hash)],
      )
      await second.report('confirmed', transfer(order, { gross: 6_000_000n }))
      const item = await itemOf(order)
      expect((await count(item, order)).status).toBe(200)
      expect((await read(order)).status).toBe('paid')
    })
  })

  it('money of a network that it does not name, or of the other network’s token, pays nothing', async () => {
    const order = await create()
    await second.report('confirmed', second.payment(order, { chain_id: 10 }))
    await second.report('confirmed', second.payment(order, { chain_id: 137 }))
    const { rows } = await system.sql.query('SELECT reason FROM unmatched_payments WHERE memo = $1 ORDER BY 1', [order.memo])
    expect([rows, (await read(order)).status]).toEqual([[{ reason: 'wrong_chain' }, { reason: 'wrong_token' }], 'pending'])
  })

  it('takes back what another block of its own chain replaced, and nothing of the other chain', async () => {
    const order = await create()
    const { rows } = await system.sql.query('SELECT upper(range_merge(advanced))::int AS next FROM chain_cursors WHERE chain_id = 137')
    const block_number = rows[0]?.next
    const here = first.payment(order, { gross: 5_000_000n, block_number })
    const other = second.payment(order, { gross: 5_000_000n, ...there, block_number })
    await first.report('detected', here)
    await second.report('detected', other)
    expect((await read(order)).status).toBe('confirming')
    // A confirmed range of the one chain that does not name a block of the same number on the other.
    await system.bus.publish(second.advance(at(order, -100), { chain_id: 137, watched: watched(order) }))
    const standing = ((await read(order)).payments ?? []).map(({ tx_hash, status }) => [tx_hash, status])
    expect(standing).toEqual(expect.arrayContaining([[here.tx_hash, 'detected']]))
    expect(standing).toEqual(expect.arrayContaining([[other.tx_hash, 'orphaned']]))
  })
})

describe('a network as a filter', () => {
  const merchant = uuidv7()
  const { address } = Wallet.createRandom()
  const as = () => asMerchant(merchant, address)
  const get = async (path: string) => (await request(system.url).get(`/api/v1${path}`).set(as()).buffer(true)).body
  const idsOf = async (path: string) => (await get(path)).data.map(({ id }: { id: string }) => id)
  const open = async (more: object = {}): Promise<OrderBody> =>
    (
      await request(system.url)
        .post('/api/v1/orders')
        .set(as())
        .send({ brl_amount: '54.20', expires_in: expiresIn + 1_000, ...more })
    ).body
  let [here, elsewhere, both, strayed] = [] as unknown as [OrderBody, OrderBody, OrderBody, OrderBody]
  beforeAll(async () => {
    here = await open()
    elsewhere = await open()
    both = await open()
    strayed = await open({ chain_ids: [31_337] })
    await first.report('confirmed', first.payment(here))
    await second.report('confirmed', second.payment(elsewhere, there))
    await first.report('confirmed', first.payment(both, { gross: 4_000_000n }))
    await second.report('confirmed', second.payment(both, { ...there, gross: 5_000_000n }))
    const deposit = { kind: 'transfer', deposit_address: strayed.payment.deposit_address } as const
    await second.report('confirmed', second.payment(strayed, { ...there, ...deposit }))
    await until(async () => (await get('/attention')).data.length === 2, 'it does not need attention')
  })

  it('of orders is where their payments are', async () => {
    expect(await idsOf('/orders?chain_id=31337')).toEqual([both.id, here.id])
    expect(await idsOf('/orders?chain_id=137')).toEqual([both.id, elsewhere.id])
    expect(await idsOf('/orders?chain_id=137&status=paid')).toEqual([elsewhere.id])
    expect(await idsOf('/orders?chain_id=10')).toEqual([])
    expect(await idsOf(`/orders?chain_id=137&paid_gte=${elsewhere.created_at}`)).toEqual([elsewhere.id])
    const { text } = await request(system.url).get('/api/v1/orders.csv?rows=payments&chain_id=137').set(as())
    const rows = text
      .trim()
      .split('\r\n')
      .slice(1)
      .map(line => line.split(','))
    expect(rows.map(cells => [cells[0], cells.at(-1)])).toEqual([
      [both.id, '137'],
      [elsewhere.id, '137'],
    ])
  })

  it('of orders finds what is of an order’s first network where its payments were kept without one', async () => {
    await system.sql.query("UPDATE payments SET id = substring(id FROM '^31337:(.*)$') WHERE order_id = $1", [here.id])
    expect([await idsOf('/orders?chain_id=31337'), await idsOf('/orders?chain_id=137')]).toEqual([
      [both.id, here.id],
      [both.id, elsewhere.id],
    ])
  })

  it('of the ledger is that of its entries, in lists and files', async () => {
    const all: EntryBody[] = (await get('/entries?limit=100')).data
    for (const chainId of [31_337, 137]) {
      const those = all.filter(({ chain_id }) => chain_id === chainId)
      expect(those.length).toBeGreaterThan(0)
      const found: EntryBody[] = (await get(`/entries?chain_id=${chainId}`)).data
      expect(found).toEqual(those)
      const { text } = await request(system.url).get(`/api/v1/entries.csv?chain_id=${chainId}`).set(as())
      expect(text.trim().split('\r\n')).toHaveLength(those.length + 1)
      const asked = await request(system.url).post('/api/v1/exports').set(as()).send({ format: 'jsonl', chain_id: chainId })
      expect([asked.status, asked.body.chain_id]).toEqual([201, chainId])
      await system.orders.idle()
      expect(await get(`/exports/${asked.body.id}`)).toMatchObject({ status: 'ready', rows: those.length, chain_id: chainId })
    }
    expect(await get('/entries?chain_id=10')).toMatchObject({ data: [], has_more: false })
    const beyond = await request(system.url)
      .post('/api/v1/exports')
      .set(as())
      .send({ format: 'jsonl', chain_id: 2 ** 31 })
    expect(beyond).toMatchObject({ status: 400, body: { errors: [{ path: 'chain_id' }] } })
  })

  it('of the ledger seeks in an index, also where all entries of a merchant are on another one', async () => {
    const undone = new Error('undone')
    const planned = system.sql.transaction(async sql => {
      await sql.query(
        `INSERT INTO entries (merchant_id, sequence, kind, units, at, chain_id, tx_hash, log_index, block_number, block_time, booked_at)
         SELECT $1, sequence, 'payment', 1, now(), 31337, '0x' || sequence, 0, 1, now(), now() FROM generate_series(1, 20000) AS sequence`,
        [uuidv7()],
      )
      await sql.query('ANALYZE entries')
      const { rows } = await sql.query<{ 'QUERY PLAN': string }>(
        'EXPLAIN SELECT * FROM entries WHERE merchant_id = (SELECT merchant_id FROM entries LIMIT 1) AND chain_id = 10 ORDER BY sequence LIMIT 20',
      )
      expect(rows.map(row => row['QUERY PLAN']).join('\n')).toMatch(/entries_merchant_id_chain_id_sequence_idx/)
      throw undone
    })
    await expect(planned).rejects.toBe(undone)
  })

  it('of what needs attention is where the money is', async () => {
    const reasonsOf = async (query: string) =>
      (await get(`/attention?${query}`)).data.map((item: AttentionItemBody) => [item.order?.id ?? item.payment?.memo, ...item.reasons])
    const [ofBoth, ofStrayed] = [
      [both.id, 'underpaid'],
      [strayed.memo, 'unmatched'],
    ]
    expect((await reasonsOf('chain_id=137')).sort()).toEqual([ofBoth, ofStrayed].sort())
    expect(await reasonsOf('chain_id=31337')).toEqual([ofBoth])
    expect(await reasonsOf('chain_id=137&reason=unmatched')).toEqual([ofStrayed])
    expect([await reasonsOf('chain_id=10'), await reasonsOf('chain_id=137&handled=true')]).toEqual([[], []])
    const { text } = await request(system.url).get('/api/v1/attention.csv?chain_id=31337').set(as())
    expect(text.trim().split('\r\n')).toHaveLength(2)
  })

  it.each(['/orders', '/orders.csv', '/entries', '/entries.csv', '/attention', '/attention.csv'])('of %s is a number', async path => {
    for (const chainId of ['polygon', '0', '-1', '1.5', '99999999999']) {
      const { status, body } = await request(system.url).get(`/api/v1${path}?chain_id=${chainId}`).set(as())
      expect([status, body.errors]).toEqual([400, [{ path: 'chain_id', message: 'must be the number of a network' }]])
    }
  })
})

describe('invariant 4 with two networks: it expires when both have passed its end', () => {
  it('neither while one is behind, nor while it is not watched there', async () => {
    const order = await create()
    await system.bus.publish(first.advance(at(order, 60), { watched: watched(order) }))
    await system.orders.idle()
    expect((await read(order)).status).toBe('pending')
    await system.bus.publish(second.advance(at(order, 60), { chain_id: 137 }))
    await system.orders.idle()
    expect((await read(order)).status).toBe('pending')
    await second.publish({ chain_id: 137, watched: watched(order) })
    await until(async () => (await read(order)).status === 'expired', 'not expired')
    expect(await types(order)).toEqual(['order.expired'])
  })

  it('a payment in time on the network that is behind pays it', async () => {
    const order = await create()
    await advances(at(order, -600), { watched: watched(order) })
    await system.bus.publish(first.advance(at(order, 600)))
    await system.orders.idle()
    const paid = second.payment(order, { ...there, block_time: at(order, -1).toISOString() })
    await system.bus.publish(second.advance(at(order, 600), { chain_id: 137, payments: [paid] }))
    await until(async () => (await read(order)).status === 'paid', 'not paid')
    expect(await types(order)).toEqual(['order.paid'])
  })

  it('a listener of one network cannot answer for the other', async () => {
    const order = await create()
    await system.bus.publish(second.advance(at(order, 60), { chain_id: 137, watched: watched(order) }))
    await system.bus.publish(first.advance(at(order, 60)))
    await system.orders.idle()
    expect((await read(order)).status).toBe('pending')
  })

  it('a listener that watches it on a network which it does not name holds nothing up', async () => {
    const order = await create()
    await listener(system.bus).publish({ chain_id: 10, watched: watched(order) })
    await first.blocked(order, 'sweep_refused', 1, undefined, 11)
    await advances(at(order, 60), { watched: watched(order) })
    await until(async () => (await read(order)).status === 'expired', 'not expired', 5_000)
  })

  it('another history of one network holds it back until it is watched in that', async () => {
    const order = await create()
    await advances(at(order, -600), { watched: watched(order) })
    second.beginAnew()
    await system.bus.publish(second.advance(at(order, 60), { chain_id: 137 }))
    await system.bus.publish(first.advance(at(order, 60)))
    await system.orders.idle()
    expect((await read(order)).status).toBe('pending')
    await second.publish({ chain_id: 137, watched: watched(order) })
    await until(async () => (await read(order)).status === 'expired', 'not expired')
  })
})

it('counts money of each network that came before its order once, also where some of it is counted by hand for another at that moment', async () => {
  const target = await create()
  const wanted = charge()
  const early = { ...target, memo: wanted.memo }
  await first.report('confirmed', first.payment(early, { gross: 1_000_000n }))
  const other = second.payment(early, { gross: 2_000_000n, ...there })
  await second.report('confirmed', other)
  const { data } = (await request(system.url).get('/api/v1/attention').set(asMerchant())).body
  const item = data.find(({ payment }: AttentionItemBody) => payment?.tx_hash === other.tx_hash)
  const under: Promise<unknown>[] = []
  await system.sql.transaction(async sql => {
    const waits = async () =>
      (await sql.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'", [])).rowCount
    await sql.query('SELECT FROM chain_cursors WHERE chain_id = 31337 FOR UPDATE', [])
    under.push(system.bus.publish(message('subscription.charge_requested', wanted)))
    await until(async () => (await waits()) === 1, 'nothing is claimed')
    const body = { order_id: target.id, reason: 'Typed wrong' }
    const attaching = request(system.url).post(`/api/v1/attention/${item?.id}/attach`).set(asMerchant()).send(body)
    const attached = attaching.then(answer => answer.status)
    under.push(attached)
    await Promise.race([attached, until(async () => (await waits()) === 2, 'neither answered nor waiting')])
  })
  await Promise.all(under)
  const { rows } = await system.sql.query(
    `SELECT confirmed_units::text AS confirmed, (SELECT coalesce(sum(gross_units), 0)::text FROM payments WHERE order_id = orders.id) AS came
     FROM orders WHERE id = ANY($1)`,
    [[target.id, wanted.order_id]],
  )
  expect(rows.map(({ confirmed }) => confirmed)).toEqual(rows.map(({ came }) => came))
  expect(rows.reduce((sum, { confirmed }) => sum + Number(confirmed), 0)).toBe(3_000_000)
})

it('keeps what is confirmed of an order that offers its network from now on, where what was seen of it comes late', async () => {
  const body = { brl_amount: '54.20', chain_ids: [31337] }
  const order: OrderBody = (await request(system.url).post('/api/v1/orders').set(asMerchant()).send(body)).body
  const paid = second.payment(order, there)
  const seen = second.next('detected', paid)
  await second.report('confirmed', paid)
  // As where the order was counted more money of that network than one write takes, and this is of the rest.
  await system.sql.query("UPDATE orders SET networks = jsonb_set(networks, '{0,isOffered}', 'true') WHERE id = $1", [order.id])
  await system.bus.publish(seen)
  const { rows } = await system.sql.query(
    'SELECT status FROM payments WHERE order_id = $1 UNION ALL SELECT status FROM unmatched_payments WHERE memo = $2',
    [order.id, order.memo],
  )
  expect(rows).toEqual([{ status: 'confirmed' }])
  await second.report('confirmed', paid)
  expect(await read(order)).toMatchObject({ status: 'paid', payments: [{ network: 'polygon', status: 'confirmed' }] })
})

it('names an address that cannot be swept on the second network, once where it cannot be on both', async () => {
  const order = await create()
  const items = async () => {
    const { body } = await request(system.url).get('/api/v1/attention').query({ reason: 'settlement_blocked' }).set(asMerchant())
    return body.data.filter((item: AttentionItemBody) => item.order?.id === order.id).map(({ reasons }: AttentionItemBody) => reasons)
  }
  await second.blocked(order, 'sweep_refused', 1, undefined, 137)
  expect(await items()).toEqual([['settlement_blocked']])
  const [here, elsewhere] = [{ gross: 1_000_000n }, { ...there, gross: 1_000_000n, deposit_address: order.payment.deposit_address }]
  await first.report('detected', first.transfer(order, here))
  await second.report('detected', second.payment(order, { ...elsewhere, kind: 'transfer' }))
  const settlements = async () => (await read(order)).payments?.map(({ chain_id, settlement }) => [chain_id, settlement.status])
  expect(await settlements()).toEqual(
    expect.arrayContaining([
      [31_337, 'pending'],
      [137, 'blocked'],
    ]),
  )
  await first.blocked(order, 'token_paused', 1)
  expect(await items()).toEqual([['settlement_blocked']])
  await first.blocked(order, null, 2)
  await second.blocked(order, null, 2, undefined, 137)
  expect(await items()).toEqual([])
})

it('finds by itself what the listener of the second network has confirmed and orders never received', async () => {
  const counted = async () =>
    Number(/^ponte_reconcile_differences\{[^}]*\} (.*)$/m.exec((await request(system.ops).get('/metrics')).text)?.[1])
  await advances(new Date())
  const { rows } = await system.sql.query('SELECT upper(range_merge(advanced))::int - 1 AS last FROM chain_cursors WHERE chain_id = 137')
  const last = rows[0]?.last
  const audits = (count: number, digest: string) =>
    system.bus.publish(
      message('chain.audited', {
        ...{ chain_id: 137, generation: second.generation() },
        spans: [{ from_block: last, to_block: last, count, digest }],
      }),
    )
  await until(async () => (await counted()) === 0, 'there are differences before')
  await audits(1, 'of another payment')
  await until(async () => (await counted()) === 1, 'a payment that did not arrive is not noticed')
  await audits(0, '')
  await until(async () => (await counted()) === 0, 'it is still noticed')
})

it('what the release before counted, which knew no chain, is counted on', async () => {
  const order = await create()
  await first.report('confirmed', first.payment(order, { gross: 4_000_000n, block_number: 10 }))
  await system.sql.query('UPDATE orders SET last_chain_id = NULL, last_time = NULL WHERE id = $1', [order.id])
  await first.report('confirmed', first.payment(order, { gross: 6_000_000n, block_number: 11 }))
  expect((await read(order)).status).toBe('paid')
})

it('ten thousand payments of nothing on a chain of low numbers hide no payment on another one: it is not settled before that is, and goes back where it came', async () => {
  const order = await create()
  const dust = first.transfer(order, { gross: 1n, block_number: 10 })
  await first.report('confirmed', dust)
  await system.sql.query(
    `INSERT INTO payments SELECT (json_populate_record(paid, json_build_object('id', id || n, 'log_index', n, 'tx_hash', '0x' || encode(sha256(n::text::bytea), 'hex')))).*
     FROM payments AS paid, generate_series(1, 10000) AS n WHERE order_id = $1`,
    [order.id],
  )
  await second.report('confirmed', second.transfer(order, { ...there, block_number: 9_000_000 }))
  // As if each of them had been reported.
  await system.sql.query(
    'UPDATE orders SET confirmed_units = confirmed_units + 10000, transfer_units = transfer_units + 10000 WHERE id = $1',
    [order.id],
  )
  await first.sweeps('confirmed', order, 10_001n)
  await system.orders.idle()
  expect(await system.chosen(order.id)).toEqual([])
  const refund = { reason: 'x', amount: '1.00', payee_address: Wallet.createRandom().address }
  const { body } = await request(system.url).post(`/api/v1/orders/${order.id}/refunds`).set(asMerchant()).send(refund)
  expect(body).toMatchObject({ chain_id: 137 })
  await second.sweeps('confirmed', order, 10_000_000n, there)
  await system.orders.idle()
  expect(await system.chosen(order.id)).toMatchObject([{ type: 'order.settled' }])
})

it('refunds name their network, and where one is followed no more they are read all the same, and money that came there goes back on another', async () => {
  const post = async (url: string, path: string, body: object, as = asMerchant()) => request(url).post(`/api/v1${path}`).set(as).send(body)
  const get = async (url: string, path: string, as = asMerchant()) => (await request(url).get(`/api/v1${path}`).set(as)).body
  const paidThere = async () => {
    const order = await create()
    const payment = second.payment(order, there)
    await second.report('confirmed', payment)
    const { body } = await post(system.url, `/orders/${order.id}/refund-claims`, { reason: 'It came back', amount: '2.00' })
    const proof = { payee_address: Wallet.createRandom().address, tx_hash: payment.tx_hash, amount: payment.amount }
    return { order, proof, path: `/payer/refunds/${new URL(body.url).pathname.split('/').at(-1)}` }
  }
  const [claimed, open] = [await paidThere(), await paidThere()]
  const polygon = { network: 'polygon', chain_id: 137 }
  expect((await post(system.url, claimed.path, claimed.proof, asPayer())).body).toMatchObject({ ...polygon, status: 'claimed' })
  const made = await post(system.url, `/orders/${open.order.id}/refunds`, {
    reason: 'x',
    amount: '1.00',
    payee_address: open.proof.payee_address,
  })
  expect(made.body).toMatchObject(polygon)
  const one = { reason: 'x', amount: '1.00', payee_address: open.proof.payee_address, chain_id: 31337 }
  expect((await post(system.url, `/orders/${open.order.id}/refunds`, one)).body).toMatchObject({ network: 'anvil', chain_id: 31337 })

  const config = readConfig(ordersConfig, { ...settings(system.database.url), DEPOSIT_FACTORY: ROUTER })
  const retired = createOrders(config, { bus: memoryBus({ topology, logger: silentLogger }), logger: silentLogger })
  await retired.start()
  try {
    const url = `http://127.0.0.1:${retired.http.port()}`
    expect(await get(url, claimed.path, asPayer())).toMatchObject({ network: '137', chain_id: 137, token_address: POLYGON.token_address })
    expect(await get(url, `/refunds/${made.body.id}`)).toMatchObject({ network: '137', chain_id: 137, typed_data: null })
    expect(await get(url, open.path, asPayer())).toMatchObject({ network: 'anvil', chain_id: 31337, status: 'open' })
    const moved = await post(url, open.path, { ...open.proof, chain_id: 137 }, asPayer())
    expect(moved).toMatchObject({ status: 409, body: { code: 'invalid_state' } })
    expect((await post(url, open.path, { ...open.proof, chain_id: 31337 }, asPayer())).body).toMatchObject({
      network: 'anvil',
      chain_id: 31337,
      status: 'claimed',
    })
    expect((await post(url, `/orders/${open.order.id}/refunds`, { ...one, chain_id: 137 })).body).toMatchObject({ status: 409 })
  } finally {
    await retired.stop()
  }
})

it.each([
  [
    'its operator suspended is in no new order, and is followed for those that name it',
    [{ ...POLYGON, confirmations: 5, suspended: true }],
  ],
  ['was retired is in no new order, and those that name it are shown', []],
])('a network that %s', async (_, others) => {
  const order = await create()
  const settings = { DEPOSIT_FACTORY: ROUTER, OTHER_NETWORKS: JSON.stringify(others), DATABASE_URL: system.database.url }
  const restarted = await startOrders(settings)
  try {
    const later = await request(restarted.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '54.20' })
    expect(later.body.payment.networks).toBeUndefined()
    const seen = (await request(restarted.url).get(`/api/v1/orders/${order.id}`).set(asMerchant())).body
    expect(seen).toMatchObject({ payment: { networks: [{}, {}] } })
  } finally {
    await restarted.stop()
  }
})

it('a network can be retired once the statement of its section counts no open order that names it, whatever is opened meanwhile', async () => {
  const page = readFileSync(join(__dirname, '../../../docs/operating/networks.md'), 'utf8')
  const statement = /^ +SELECT count\(\*\) FROM orders .+;$/m.exec(page)?.[0].replaceAll('84532', '137') ?? ''
  const own = await startOrders({ DEPOSIT_FACTORY: ROUTER, OTHER_NETWORKS: JSON.stringify([POLYGON]) })
  const make = async ({ url }: { url: string }): Promise<OrderBody> =>
    (await request(url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '54.20' })).body
  const waiting = async () => Number((await own.sql.query(statement)).rows[0]?.count)
  try {
    const order = await make(own)
    expect(await waiting()).toBe(1)
    const others = JSON.stringify([{ ...POLYGON, suspended: true }])
    const suspended = await startOrders({ DEPOSIT_FACTORY: ROUTER, OTHER_NETWORKS: others, DATABASE_URL: own.database.url })
    try {
      await make(suspended)
      expect(await waiting()).toBe(1)
      await request(suspended.url).post(`/api/v1/orders/${order.id}/cancel`).set(asMerchant())
      expect(await waiting()).toBe(0)
    } finally {
      await suspended.stop()
    }
  } finally {
    await own.stop()
  }
})

it('open orders past their end that name a network which is not followed are counted, for an operator', async () => {
  let now = new Date()
  const own = await startOrders({ DEPOSIT_FACTORY: ROUTER, OTHER_NETWORKS: JSON.stringify([POLYGON]) })
  const make = async ({ url }: { url: string }, more: object = {}): Promise<OrderBody> =>
    (
      await request(url)
        .post('/api/v1/orders')
        .set(asMerchant())
        .send({ brl_amount: '54.20', ...more })
    ).body
  try {
    await make(own)
    await make(own, { chain_ids: [31337] })
    const retired = await startOrders(
      { DEPOSIT_FACTORY: ROUTER, DATABASE_URL: own.database.url, RATE_MAX_AGE_S: '7200' },
      { now: () => now },
    )
    try {
      await make(retired)
      const counted = async () =>
        Number(/^ponte_orders_stranded\{[^}]*\} (.*)$/m.exec((await request(retired.ops).get('/metrics')).text)?.[1])
      expect(await counted()).toBe(0)
      now = new Date(now.getTime() + 3_600_000)
      expect(await counted()).toBe(1)
    } finally {
      await retired.stop()
    }
  } finally {
    await own.stop()
  }
})

it('follows several networks with real money, and refuses one of the other kind, or named twice', async () => {
  const others = JSON.stringify([{ ...POLYGON, confirmations: 5 }])
  const twice = JSON.stringify([{ ...POLYGON, chain_id: 31337, confirmations: 5 }])
  await expect(startOrders({ OTHER_NETWORKS: twice })).rejects.toThrow('each chain_id once')
  const elsewhere = JSON.stringify([{ ...POLYGON, deposit_factory: POLYGON.token_address }])
  await expect(startOrders({ OTHER_NETWORKS: elsewhere })).rejects.toThrow('must equal ROUTER_ADDRESS')
  const test = {
    PONTE_MODE: 'test',
    DEVELOPMENT_CHAIN: 'false',
    CHAIN_ID: '84532',
    RPC_URLS: 'http://127.0.0.1:1',
    DEPOSIT_FACTORY: 'none',
  }
  await expect(startOrders({ ...test, OTHER_NETWORKS: others })).rejects.toThrow('OTHER_NETWORKS')
  await expect(startOrders({ ...test, OTHER_NETWORKS: JSON.stringify([{ ...POLYGON, chain_id: 80_002 }]) })).rejects.toThrow('must be set')
  const live = { ...settings('postgres://localhost/unused'), ...test, PONTE_MODE: 'live', CHAIN_ID: '8453' }
  const following = (chainId: number) =>
    readConfig(ordersConfig, {
      ...live,
      OTHER_NETWORKS: JSON.stringify([{ ...POLYGON, chain_id: chainId, rpc_urls: ['http://127.0.0.1:1'], deposit_factory: 'none' }]),
    })
  expect(() => following(80_002)).toThrow('OTHER_NETWORKS')
  expect(following(137)).toMatchObject({ PONTE_MODE: 'live', OTHER_NETWORKS: [{ chain_id: 137 }] })
})

it('a network that stands still, or that its operator suspended, is offered by no new order, and open ones name it', async () => {
  let now = new Date()
  const settings = (more: object) => ({
    ...{ DEPOSIT_FACTORY: ROUTER, NETWORK_SUSPENDED_AFTER_S: '600', RATE_MAX_AGE_S: '3600' },
    OTHER_NETWORKS: JSON.stringify([{ ...POLYGON, confirmations: 5, ...more }]),
  })
  const own = await startOrders(settings({}), { now: () => now })
  try {
    const make = async (): Promise<OrderBody> =>
      (await request(own.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '54.20' })).body
    expect((await make()).payment.networks).toBeUndefined()
    const there = listener(own.bus)
    await own.bus.publish(there.advance(now, { chain_id: 137 }))
    await own.orders.idle()
    const order = await make()
    const shown = async () => {
      const { body } = await request(own.url).get(`/api/v1/orders/${order.id}`).set(asMerchant())
      return body.payment.networks.map(({ chain_id, suspended }: { chain_id: number; suspended: boolean }) => [chain_id, suspended])
    }
    // Of the first one nothing is known here at all.
    const named = [[31337, true]]
    expect(await shown()).toEqual([...named, [137, false]])
    now = new Date(now.getTime() + 601_000)
    expect([await shown(), (await make()).payment.networks]).toEqual([[...named, [137, true]], undefined])
    await own.bus.publish(there.advance(now, { chain_id: 137 }))
    await own.orders.idle()
    expect([await shown(), (await make()).payment.networks?.length]).toEqual([[...named, [137, false]], 2])
  } finally {
    await own.stop()
  }
  const suspended = await startOrders({ ...settings({ suspended: true }), NETWORK_SUSPENDED_AFTER_S: '0' })
  try {
    const { body } = await request(suspended.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '54.20' })
    expect([body.status, body.payment.networks]).toEqual(['pending', undefined])
  } finally {
    await suspended.stop()
  }
})

describe('the first network, which its operator suspended', () => {
  const suspended = { DEPOSIT_FACTORY: ROUTER, NETWORK_SUSPENDED: 'true' }

  it('is in no new order: another one takes its place, and money that comes on the first all the same needs attention', async () => {
    const own = await startOrders({ ...suspended, OTHER_NETWORKS: JSON.stringify([{ ...POLYGON, confirmations: 5 }]) })
    const [here, elsewhere] = [listener(own.bus), listener(own.bus)]
    const get = async (path: string) => (await request(own.url).get(`/api/v1/${path}`).set(asMerchant())).body
    try {
      const order: OrderBody = (await request(own.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '54.20' })).body
      expect(order.payment).toMatchObject({ network: 'polygon', chain_id: 137, token_address: POLYGON.token_address, gasless: true })
      expect(order.payment.networks).toBeUndefined()
      expect((await get('networks')).data).toMatchObject([
        { chain_id: 31_337, suspended: true },
        { chain_id: 137, suspended: false },
      ])
      const asked = async () => {
        const { rows } = await own.sql.query(
          "SELECT body::jsonb #>> '{data,chain_id}' AS chain FROM outbox WHERE type = 'deposit.watch' ORDER BY 1",
        )
        return rows.map(({ chain }) => chain)
      }
      await until(async () => (await asked()).join() === '137,31337', 'a listener is not asked')
      const paid = here.payment({
        ...order,
        payment: { ...order.payment, chain_id: 31_337, token_address: String(settings('').TOKEN_ADDRESS) },
      })
      await here.report('confirmed', paid)
      const [item] = (await get('attention')).data
      expect(item).toMatchObject({ actions: ['attach'], payment: { reason: 'wrong_chain', chain_id: 31_337 } })
      const counting = { order_id: order.id, reason: 'it came in time' }
      const counted = await request(own.url).post(`/api/v1/attention/${item.id}/attach`).set(asMerchant()).send(counting)
      expect([counted.status, counted.body.status]).toEqual([200, 'paid'])

      const late: OrderBody = (await request(own.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '54.20' })).body
      const end = new Date(Date.parse(late.expires_at) + 1_000)
      await own.bus.publish(elsewhere.advance(end, { chain_id: 137, watched: watched(late) }))
      await until(async () => (await get(`orders/${late.id}`)).status === 'expired', 'not expired')
    } finally {
      await own.stop()
    }
  })

  it('leaves nothing to pay on where it is the only one, or each other one is suspended too', async () => {
    const others = [[], [{ ...POLYGON, suspended: true }]]
    for (const networks of others)
      await expect(startOrders({ ...suspended, OTHER_NETWORKS: JSON.stringify(networks) })).rejects.toThrow('ORDERS_PAUSED')
  })
})

it('a month is closed once each network has passed its end, but those that stand still; an operator compares the books of each', async () => {
  let now = new Date('2026-11-05T12:00:00Z')
  const others = JSON.stringify([{ ...POLYGON, confirmations: 5 }])
  const own = await startOrders(
    { OTHER_NETWORKS: others, RECONCILE_EVERY_S: '1', NETWORK_SUSPENDED_AFTER_S: '604800', RATE_MAX_AGE_S: '86400' },
    { now: () => now },
  )
  const [here, there] = [listener(own.bus), listener(own.bus)]
  const closedThrough = async () => {
    const { rows } = await own.sql.query("SELECT nullif(through, '-infinity') AS through FROM ledger_close")
    return rows[0]?.through?.toISOString() ?? null
  }
  try {
    await own.bus.publish(there.advance(new Date('2026-10-30T12:00:00Z'), { chain_id: 137 }))
    await own.bus.publish(here.advance(now))
    await until(async () => (await closedThrough()) !== null, 'nothing is closed')
    expect(await closedThrough()).toBe('2026-10-01T03:00:00.000Z')
    // Eight days later the second one still shows nothing.
    now = new Date('2026-11-07T12:00:01Z')
    await own.bus.publish(here.advance(now))
    await until(async () => (await closedThrough()) === '2026-11-01T03:00:00.000Z', 'October is not closed')

    const paid = there.payment(
      { memo: randomBytes(32).toString('hex'), usdc_amount: '10.000000', payment: (await create()).payment },
      { chain_id: 137 },
    )
    await there.report('confirmed', paid)
    const compare = async (query: object) =>
      (
        await request(own.ops)
          .get('/reconcile')
          .query({ from_block: 0, to_block: 4_999, ...query })
      ).body.payments
    expect(await compare({ chain_id: 137 })).toMatchObject([{ place: 'unmatched', payment_id: there.idOf(paid) }])
    expect([await compare({}), await compare({ chain_id: 31_337 })]).toEqual([[], []])
    expect((await request(own.ops).get('/reconcile').query({ from_block: 0, to_block: 1, chain_id: 10 })).status).toBe(400)
  } finally {
    await own.stop()
  }
})
