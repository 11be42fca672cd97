import type { RequestHandler } from 'express'
import request from 'supertest'
import { bearer, newMerchant, runGateway, system } from './world'

runGateway()
beforeEach(() => {
  system.owners.orders.answers()
  system.owners.orders.received.length = 0
})

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const refusing: RequestHandler = (_req, res) => {
  res
    .status(422)
    .type('application/problem+json')
    .send('{"code":"payout_address_refused","detail":"This is the token itself; use a wallet."}')
}
const create = (body: object, token = system.identity.sign()) => request(system.url).post('/api/v1/merchants').set(bearer(token)).send(body)
const change = (token: string, body: object) => request(system.url).patch('/api/v1/merchants/me').set(bearer(token)).send(body)
const asked = () => system.owners.orders.received.map(({ method, url }) => `${method} ${url}`)

test('orders is asked about the address of a new merchant, in its checksum spelling', async () => {
  await create({ display_name: 'Padaria', payout_address: ADDRESS.toLowerCase() }).expect(201)
  expect(asked()).toEqual([`GET /api/v1/payout-addresses/${ADDRESS}`])
})

test('an address that it refuses makes no merchant, and the reason is passed on', async () => {
  system.owners.orders.answers(refusing)
  const token = system.identity.sign()
  const { body } = await create({ display_name: 'Padaria', payout_address: ADDRESS }, token).expect(422)
  expect(body).toMatchObject({ code: 'payout_address_refused', detail: 'This is the token itself; use a wallet.' })
  await request(system.url).get('/api/v1/merchants/me').set(bearer(token)).expect(404)
})

test('a change to a refused address changes nothing', async () => {
  const { token } = await newMerchant(system)
  system.owners.orders.answers(refusing)
  await change(token, { display_name: 'Outra', payout_address: ADDRESS }).expect(422)
  const { body } = await request(system.url).get('/api/v1/merchants/me').set(bearer(token)).expect(200)
  expect(body).toMatchObject({ display_name: 'Padaria Estrela', payout_address: null })
})

test('the merchant is warned of an address that is a contract, for as long as it stays', async () => {
  const { token } = await newMerchant(system)
  system.owners.orders.answers((_req, res) => void res.json({ object: 'payout_address', address: ADDRESS, is_contract: true }))
  const warned = [expect.stringMatching(/^payout_address is a contract/)]
  expect((await change(token, { payout_address: ADDRESS }).expect(200)).body.warnings).toEqual(warned)
  expect((await create({ display_name: 'Loja', payout_address: ADDRESS }).expect(201)).body.warnings).toEqual(warned)
  system.owners.orders.answers((_req, res) => void res.json({ object: 'payout_address', address: ADDRESS, is_contract: false }))
  expect((await change(token, { display_name: 'Outra' }).expect(200)).body.warnings).toEqual(warned)
  expect((await request(system.url).get('/api/v1/merchants/me').set(bearer(token))).body.warnings).toEqual(warned)
  expect((await change(token, { payout_address: null }).expect(200)).body.warnings).toBeUndefined()
  expect((await change(token, { payout_address: ADDRESS }).expect(200)).body.warnings).toBeUndefined()
})

test('nothing is asked when the address stays, is cleared, or is not named', async () => {
  const { token } = await newMerchant(system, { display_name: 'Padaria', payout_address: ADDRESS })
  system.owners.orders.received.length = 0
  await change(token, { payout_address: ADDRESS }).expect(200)
  await change(token, { display_name: 'Outra' }).expect(200)
  await change(token, { payout_address: null }).expect(200)
  expect(asked()).toEqual([])
})

test.each([
  ['is broken', ((_req, res) => void res.destroy()) as RequestHandler],
  ['does not know the question', ((_req, res) => void res.status(404).json({ code: 'not_found' })) as RequestHandler],
])('when orders %s, the address is not stored and the caller may try again', async (_name, answer) => {
  const { token } = await newMerchant(system)
  system.owners.orders.answers(answer)
  const { body, headers } = await change(token, { payout_address: ADDRESS }).expect(503)
  expect([body.code, Number(headers['retry-after']) > 0]).toEqual(['service_unavailable', true])
  expect((await request(system.url).get('/api/v1/merchants/me').set(bearer(token))).body.payout_address).toBeNull()
})
