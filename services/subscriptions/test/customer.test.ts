import request from 'supertest'
import { isConflict, openStore } from '../src/store'
import { asMerchant, runSubscriptions, system } from './setup'

runSubscriptions({ replicas: 2 })

const ANA = { name: 'Ana Souza', email: 'Ana@Example.com', tax_id: '12345678909', resident: true }
const BIA = { name: 'Bia Lima', email: null, tax_id: 'B1A0L1MA000130', resident: null }
const patch = (id: string, body: object, replica = 0) => system.call('patch', `/${id}`, body, {}, replica)
const requests = (id: string) =>
  system
    .of('subscription.charge_requested')
    .filter(({ data }) => data.subscription_id === id)
    .map(({ data }) => data.customer)
const erase = async (body: object) =>
  (await request(system.url()).post('/api/v1/subscription-customers/erase').set(asMerchant()).send(body)).body.erased

describe('the customer of a subscription', () => {
  it('is asked for with each charge, as it is at that moment, and shown to the merchant', async () => {
    const named = system.clock.now.toISOString()
    const { id, customer } = await system.create({ interval: 'month', customer: { ...ANA, tax_id: '123.456.789-09' } })
    await system.idle()
    expect(customer).toEqual(ANA)
    expect(requests(id)).toEqual([{ ...ANA, given_at: named }])
    system.clock.now = new Date(system.clock.now.getTime() + 60_000)
    expect((await patch(id, { customer: { name: BIA.name, tax_id: BIA.tax_id } })).body.customer).toEqual(BIA)
    const renamed = system.clock.now.toISOString()
    system.clock.now = new Date(system.clock.now.getTime() + 32 * 86_400_000)
    await system.idle()
    expect(requests(id).at(-1)).toEqual({ ...BIA, given_at: renamed })
    expect((await system.get(id)).customer).toEqual(BIA)
    const others = system.received.filter(({ type }) => type !== 'subscription.charge_requested')
    expect(JSON.stringify(others)).not.toMatch(/Souza|Lima|12345678909|B1A0L1MA000130/)
  })

  it('is no part of a subscription or a charge that has none', async () => {
    const body = await system.create({ interval: 'month', customer: {} })
    await system.idle()
    expect('customer' in body).toBe(false)
    expect(requests(body.id)).toEqual([undefined])
  })

  it('is named and erased alone in any state; with anything else a plan that is over is not changed', async () => {
    const { id } = await system.create({ customer: ANA })
    await system.call('post', `/${id}/cancel`)
    expect((await patch(id, { customer: BIA, external_ref: 'A' })).status).toBe(409)
    expect((await patch(id, { customer: BIA })).body).toMatchObject({ status: 'cancelled', customer: BIA, external_ref: null })
    const erased = await patch(id, { customer: null })
    expect([erased.status, 'customer' in erased.body]).toEqual([200, false])
  })

  it('is refused with its field, and then stays', async () => {
    const { id } = await system.create({ customer: ANA })
    const answer = await patch(id, { customer: { tax_id: '123.456.789-00' } })
    expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([400, 'customer.tax_id'])
    expect((await system.get(id)).customer).toEqual(ANA)
  })

  it('is erased by number or mail address, and what another replica had read of it does not bring it back', async () => {
    const subject = { ...ANA, tax_id: '98765432100' }
    const plans = await Promise.all([subject, { email: 'ANA@EXAMPLE.COM' }, BIA].map(customer => system.create({ customer })))
    const options = { now: () => system.clock.now, committed: () => undefined, published: () => undefined, unreadable: () => undefined }
    const dunning = { noticeS: 0, retryAfterS: [], unpaidPeriodsMax: 3, whenUnpaid: 'leave' as const }
    const { subscriptions } = openStore(system.sql, { ...options, dunning })
    const from = await subscriptions.find(plans[0]?.id ?? '')
    if (!from) throw new Error('The plan is not there.')
    expect(await erase({ tax_id: '987.654.321-00' })).toBe(1)
    const stale = subscriptions.commit({ from, subscription: { ...from, externalRef: 'R' }, facts: [] }, {})
    expect(isConflict(await stale.catch(error => error))).toBe(true)
    expect(await erase({ email: 'ana@example.com' })).toBeGreaterThan(0)
    const left = await Promise.all(plans.map(async ({ id }) => (await system.get(id)).customer))
    expect(left).toEqual([undefined, undefined, BIA])
    expect(await erase({ tax_id: subject.tax_id })).toBe(0)
    const stranger = asMerchant('01981f3c-0000-7000-8000-00000000000f')
    const other = await request(system.url()).post('/api/v1/subscription-customers/erase').set(stranger).send({ tax_id: BIA.tax_id })
    expect([other.status, other.body.erased, (await system.get(plans[2]?.id ?? '')).customer]).toEqual([200, 0, BIA])
  })
})
