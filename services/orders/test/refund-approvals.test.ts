import type { EventData, MerchantTerms, OrderBody, RefundBody } from '@ponte/contracts'
import { type LocalChain, startLocalChain, testAccounts } from '@ponte/local-servers'
import { readConfig, silentLogger, uuidv7 } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import request from 'supertest'
import { createOrders, ordersConfig } from '../src'
import { listener, message } from './listener'
import { asMerchant, asPayer, merchantId, settings, startOrders } from './setup'

// Above the merchant's limit two members take part in a refund: Ana, Bia and others, and keys, which are no members.

const wallet = new Wallet(testAccounts[2].privateKey)
const TWO_TAKE = expect.stringContaining('take two members')
let local: LocalChain
let system: Awaited<ReturnType<typeof startOrders>>
let second: ReturnType<typeof createOrders>
let secondUrl: string
let chain: ReturnType<typeof listener>
beforeAll(async () => {
  local = await startLocalChain()
  const place = { RPC_URLS: local.rpcUrl, TOKEN_ADDRESS: local.usdcAddress, ROUTER_ADDRESS: local.routerAddress }
  const env = { ...place, PLATFORM_FEE_BPS: String(local.feeBps) }
  system = await startOrders(env)
  second = createOrders(readConfig(ordersConfig, { ...settings(system.database.url), ...env }), { bus: system.bus, logger: silentLogger })
  await second.start()
  secondUrl = `http://127.0.0.1:${second.http.port()}`
  chain = listener(system.bus)
})
afterAll(async () => {
  await second?.stop()
  await system?.stop()
  await local?.stop()
})

interface Asker {
  /** Null is a key. */
  by?: string | null
  terms?: Partial<MerchantTerms>
  url?: string
  merchant?: string
  /** Users who are members at the request. */
  members?: readonly string[]
}
/** Half of what an order of these tests brings. */
const LIMIT = { refund_approval_above: '50.000000' }
const as = ({ by = 'ana', terms = LIMIT, merchant = merchantId, members }: Asker) =>
  asMerchant(merchant, wallet.address, by ?? undefined, terms, members)
const post = (path: string, body: object = {}, asker: Asker = {}) =>
  request(asker.url ?? system.url)
    .post(`/api/v1${path}`)
    .set(as(asker))
    .send(body)
const read = async ({ id }: Pick<RefundBody, 'id'>, asker: Asker = {}): Promise<RefundBody> =>
  (await request(system.url).get(`/api/v1/refunds/${id}`).set(as(asker))).body
async function paid(asker: Asker = {}): Promise<OrderBody> {
  const { body: order } = await post('/orders', { brl_amount: '542.00' }, asker)
  await chain.report('confirmed', chain.payment(order))
  return order
}
async function made(order: OrderBody, asker: Asker = {}, body: object = {}): Promise<RefundBody> {
  const asked = { payee_address: Wallet.createRandom().address, reason: 'It came back', ...body }
  return (await post(`/orders/${order.id}/refunds`, asked, asker)).body
}
const approve = ({ id }: Pick<RefundBody, 'id'>, asker: Asker = {}) => post(`/refunds/${id}/approve`, {}, asker)
const cancel = ({ id }: Pick<RefundBody, 'id'>, asker: Asker = {}) => post(`/refunds/${id}/cancel`, {}, asker)
async function sign(of: RefundBody, asker: Asker = {}) {
  const { domain, types, message: data } = of.typed_data ?? { domain: {}, types: {}, message: { validBefore: '0' } }
  const body = { valid_before: Number(data.validBefore), signature: await wallet.signTypedData(domain, types, data) }
  return post(`/refunds/${of.id}/signature`, body, asker)
}

describe('a signature above the limit', () => {
  it.each([
    ['who asked brings it', 'ana', null, 'ana', 409],
    ['another member brings it', 'ana', null, 'bia', 200],
    ['another member approved, and who asked brings it', 'ana', 'bia', 'ana', 200],
    ['another member approved, and a key brings it', 'ana', 'bia', null, 200],
    ['a key brings what a member asked for', 'ana', null, null, 409],
    ['a key asks and brings it', null, null, null, 409],
    ['a key asks, and one member approves and brings it', null, 'ana', 'ana', 409],
    ['a key asks and brings it, and one member approved', null, 'ana', null, 409],
    ['a key asks, one member approves, another one brings it', null, 'ana', 'bia', 200],
  ] as const)('where %s', async (_, asker, approver, bringer, status) => {
    const of = await made(await paid(), { by: asker })
    expect(of).toMatchObject({ requested_by: asker, needs_approval: true, approved_by: null, approved_at: null })
    if (approver) expect((await approve(of, { by: approver })).status).toBe(200)
    const answer = await sign(of, { by: bringer })
    expect([answer.status, answer.body.detail]).toEqual([status, status === 409 ? TWO_TAKE : undefined])
    expect(await read(of)).toMatchObject({
      status: status === 200 ? 'submitted' : 'awaiting_signature',
      ...{ approved_by: approver, needs_approval: status !== 200 },
    })
  })

  it('counts no approval of a member who was removed, until another one approves in that place', async () => {
    const of = await made(await paid(), { by: 'ana', members: ['ana', 'bia', 'carla'] })
    await approve(of, { by: 'bia', members: ['ana', 'bia', 'carla'] })
    const left = { by: 'ana', members: ['ana', 'carla'] }
    expect(await read(of, left)).toMatchObject({ approved_by: 'bia', needs_approval: true })
    expect((await sign(of, left)).body.detail).toEqual(TWO_TAKE)
    expect((await approve(of, { ...left, by: 'carla' })).body).toMatchObject({ approved_by: 'carla', needs_approval: false })
    expect((await sign(of, left)).status).toBe(200)
  })

  it('counts no member who asked for it and was removed', async () => {
    const of = await made(await paid(), { by: 'bia', members: ['ana', 'bia'] })
    expect((await sign(of, { by: 'ana', members: ['ana'] })).body.detail).toEqual(TWO_TAKE)
    expect((await sign(of, { by: 'ana', members: ['ana', 'bia'] })).status).toBe(200)
  })

  it('is taken from one member up to the limit, and at any sum where no limit is chosen', async () => {
    const order = await paid()
    const of = await made(order, {}, { amount: '50.00' })
    expect([of.needs_approval, (await sign(of)).status]).toEqual([false, 200])
    const without = await made(await paid(), { terms: { refund_approval_above: null } })
    expect([without.needs_approval, (await sign(without, { terms: { refund_approval_above: null } })).status]).toEqual([false, 200])
  })

  it('is judged by the sum of the order’s refunds, so that two halves do not pass below it', async () => {
    const order = await paid()
    const half = await made(order, {}, { amount: '50.00' })
    expect((await sign(half)).status).toBe(200)
    const other = await made(order, {}, { amount: '0.000001' })
    expect([other.needs_approval, (await sign(other)).status]).toEqual([true, 409])
    // A refund that is cancelled returns nothing.
    await cancel(other)
    const further = await paid()
    const [first, last] = [await made(further, {}, { amount: '30' }), await made(further, {}, { amount: '30' })]
    expect([(await read(first)).needs_approval, (await sign(first)).status]).toEqual([true, 409])
    await cancel(last)
    expect([(await read(first)).needs_approval, (await sign(first)).status]).toEqual([false, 200])
  })

  it('is judged by the limit of the moment at which it is brought', async () => {
    const of = await made(await paid(), { terms: { refund_approval_above: null } })
    expect([of.needs_approval, (await read(of)).needs_approval]).toEqual([false, true])
    expect((await sign(of)).status).toBe(409)
    expect((await sign(of, { terms: { refund_approval_above: '0.000000' } })).status).toBe(409)
    expect((await sign(of, { terms: { refund_approval_above: '100.000000' } })).status).toBe(200)
  })

  it('is the same again once it is taken, whoever sends it', async () => {
    const of = await made(await paid())
    const { domain, types, message: data } = of.typed_data ?? { domain: {}, types: {}, message: { validBefore: '0' } }
    const body = { valid_before: Number(data.validBefore), signature: await wallet.signTypedData(domain, types, data) }
    const bring = (by: string) => post(`/refunds/${of.id}/signature`, body, { by })
    expect([(await bring('ana')).status, (await bring('bia')).status, (await bring('ana')).status]).toEqual([409, 200, 200])
  })

  it('of a refund that a payer named the address of counts who made the link as who asked', async () => {
    const { body: order }: { body: OrderBody } = await post('/orders', { brl_amount: '542.00' })
    const payment = chain.payment(order)
    await chain.report('confirmed', payment)
    const { body: claim } = await post(`/orders/${order.id}/refund-claims`, { reason: 'x' })
    const named = { payee_address: Wallet.createRandom().address, tx_hash: payment.tx_hash, amount: payment.amount }
    await request(system.url)
      .post(`/api/v1/payer/refunds/${claim.url.split('/').at(-1)}`)
      .set(asPayer())
      .send(named)
      .expect(200)
    const { body: list } = await request(system.url).get(`/api/v1/orders/${order.id}/refunds`).set(as({}))
    expect(list.data).toMatchObject([{ requested_by: 'ana', needs_approval: true }])
    const of = await read(list.data[0])
    expect([(await sign(of)).status, (await approve(of)).status, (await sign(of, { by: 'bia' })).status]).toEqual([409, 409, 200])
  })
})

describe('the limit', () => {
  const merchant = uuidv7()
  const secrets = { webhook_url: null, sealed_webhook_secret: 'x', sealed_pending_webhook_secret: null }
  const terms = { merchant_id: merchant, display_name: 'Padaria', payout_address: wallet.address }
  const updated = (change: Partial<EventData<'merchant.updated'>>) =>
    system.bus.publish(
      message('merchant.updated', { ...terms, ...secrets, version: 2, pending_webhook_secret_activates_at: null, ...change }),
    )

  it('that we know stands against older terms, and where a gateway of the release before names none', async () => {
    const order = await paid({ merchant, terms: {} })
    const of = await made(order, { merchant, terms: {} })
    const needed = async (sent: Partial<MerchantTerms>) => (await read(of, { merchant, terms: sent })).needs_approval
    expect(await needed({})).toBe(false)
    await updated({ refund_approval_above: '10.000000' })
    const older = { version: 1, refund_approval_above: null }
    expect([await needed(older), await needed({ version: 3, refund_approval_above: null })]).toEqual([true, false])
    expect([await needed({ version: 2 }), await needed({ version: 3 })]).toEqual([true, true])
    await updated({ version: 3 })
    expect(await needed({ version: 3 })).toBe(true)
    // Late.
    await updated({ version: 2, refund_approval_above: null })
    expect(await needed(older)).toBe(true)
    await updated({ version: 4, refund_approval_above: null })
    expect(await needed({ version: 4 })).toBe(false)
  })
})

describe('an approval', () => {
  it('is the first one of another member, the same again, and no second one', async () => {
    const of = await made(await paid())
    expect((await approve(of)).body).toMatchObject({ code: 'invalid_state', detail: expect.stringContaining('You asked') })
    const { body } = await approve(of, { by: 'bia' })
    expect(body).toMatchObject({ approved_by: 'bia', approved_at: expect.any(String), needs_approval: false, typed_data: null })
    expect((await approve(of, { by: 'bia' })).body).toEqual(body)
    expect((await approve(of, { by: 'carla' })).status).toBe(409)
    expect((await sign(of)).body).toMatchObject({ status: 'submitted', approved_by: 'bia', approved_at: body.approved_at })
    expect((await approve(of, { by: 'carla' })).status).toBe(409)
    expect((await approve(of, { by: 'bia' })).body).toMatchObject({ approved_by: 'bia', approved_at: body.approved_at })
  })

  it('is no key’s, no other merchant’s, and of nothing that is cancelled', async () => {
    const of = await made(await paid())
    expect((await approve(of, { by: null })).body).toMatchObject({ code: 'forbidden' })
    expect((await approve(of, { by: 'bia', merchant: uuidv7() })).status).toBe(403)
    expect((await approve({ id: uuidv7() }, { by: 'bia' })).status).toBe(404)
    await cancel(of)
    expect((await approve(of, { by: 'bia' })).body).toMatchObject({ code: 'invalid_state' })
    expect(await read(of)).toMatchObject({ status: 'cancelled', approved_by: null, needs_approval: false })
  })

  it('of twenty members at once is one’s', async () => {
    const of = await made(await paid())
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => approve(of, { by: `member ${index}`, url: index % 2 ? secondUrl : system.url })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)])
    const { approved_by } = await read(of)
    expect(answers.find(({ status }) => status === 200)?.body.approved_by).toBe(approved_by)
  })

  it('against a cancellation at another replica leaves a refund that is cancelled, and none that is approved after that', async () => {
    for (let round = 0; round < 6; round++) {
      const of = await made(await paid())
      const [approved, cancelled] = await Promise.all([approve(of, { by: 'bia' }), cancel(of, { url: secondUrl })])
      const after = await read(of)
      expect([cancelled.status, after.status]).toEqual([200, 'cancelled'])
      expect([200, 409]).toContain(approved.status)
      expect(after.approved_by).toBe(approved.status === 200 ? 'bia' : null)
    }
  })

  it('at another replica lets who asked sign after it alone', async () => {
    for (let round = 0; round < 6; round++) {
      const of = await made(await paid())
      const [approved, signed] = await Promise.all([approve(of, { by: 'bia', url: secondUrl }), sign(of)])
      expect(approved.status).toBe(200)
      const { status } = await read(of)
      expect([signed.status, status]).toEqual(signed.status === 200 ? [200, 'submitted'] : [409, 'awaiting_signature'])
    }
  })

  it('that cannot be written leaves nothing behind', async () => {
    const of = await made(await paid())
    await system.sql.query(
      `CREATE FUNCTION dies() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the process died here'; END $$`,
    )
    await system.sql.query('CREATE TRIGGER dies BEFORE UPDATE ON refunds FOR EACH ROW EXECUTE FUNCTION dies()')
    expect((await approve(of, { by: 'bia' })).status).toBe(500)
    await system.sql.query('DROP TRIGGER dies ON refunds')
    expect([(await read(of)).approved_by, (await sign(of)).status]).toEqual([null, 409])
    expect((await approve(of, { by: 'bia' })).status).toBe(200)
  })

  it('that the database has lost is asked for again', async () => {
    const of = await made(await paid())
    await approve(of, { by: 'bia' })
    await system.sql.query('UPDATE refunds SET approved_by = NULL, approved_at = NULL WHERE id = $1', [of.id])
    expect([(await sign(of)).status, (await approve(of, { by: 'carla' })).status, (await sign(of)).status]).toEqual([409, 200, 200])
  })
})
