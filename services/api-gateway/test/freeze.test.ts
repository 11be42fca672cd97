import { operationList, pathWith, placesOf } from '@ponte/contracts'
import request from 'supertest'
import { bearer, claimsOf, newMerchant, OWNER_DAYS_MS, runGateway, settleAccounts, system } from './world'

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }
const ME = '/api/v1/merchants/me'
const PAID = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const OTHER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

runGateway({}, { now: () => new Date(at.ms) })

const ops = (path: string) => fetch(`http://127.0.0.1:${system.gateway.ops.port()}${path}`, { method: 'POST' })
const again = (token: string) => system.identity.sign({ sub: claimsOf(token).sub })
const settle = () => settleAccounts(system, () => new Date(at.ms))
const ask = (token: string, method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object) => {
  const asked = request(system.url)
    [method](path.startsWith('/api/') ? path : `${ME}${path}`)
    .set(bearer(again(token)))
  return body ? asked.send(body) : asked
}

test('an operator freezes a merchant: nothing of the account changes, orders go on, and afterwards what waits has its whole time again', async () => {
  const { token, merchant, apiKey } = await newMerchant(system, { display_name: 'Padaria', payout_address: PAID })
  const { body: named } = await ask(token, 'post', '/api-keys', { name: 'ERP', scopes: ['endpoints:write'] }).expect(201)
  const { body: changed } = await ask(token, 'patch', '', { payout_address: OTHER }).expect(200)
  expect(await (await ops(`/merchants/${merchant.id}/freeze`)).json()).toMatchObject({
    id: merchant.id,
    frozen_at: expect.any(String),
    waiting: 1,
  })
  await ops(`/merchants/${merchant.id}/freeze`)

  // An operation of no merchant is judged once what it is about is known: the rule's own test has it.
  const stopped = operationList.filter(([, { whileFrozen, permission }]) => whileFrozen === 'refused' && permission !== null)
  expect(stopped.length).toBeGreaterThan(15)
  for (const [id, operation] of stopped) {
    for (const { path, credentials } of placesOf(operation)) {
      const asked = (credential: string) =>
        request(system.url)
          [operation.method](pathWith(path, { id: named.id }))
          .set(bearer(credential))
          .send(operation.example ?? {})
      const answers = [
        ...(credentials.includes('session') ? [await asked(again(token))] : []),
        ...(credentials.includes('api_key') ? [await asked(named.api_key)] : []),
      ]
      for (const { status, body } of answers)
        expect([id, path, status, body.code, body.detail]).toEqual([id, path, 409, 'invalid_state', expect.stringContaining('frozen')])
    }
  }
  await request(system.url).post('/api/v1/orders').set(bearer(apiKey)).send({}).expect(201)
  await ask(token, 'delete', `/api-keys/${named.id}`).expect(200)

  at.ms += 10 * 86_400_000
  await settle()
  expect((await ask(token, 'get', '').expect(200)).body).toMatchObject({
    payout_address: PAID,
    pending_payout_change: { payout_address: OTHER },
  })
  expect(await (await ops(`/merchants/${merchant.id}/unfreeze`)).json()).toMatchObject({ frozen_at: null, waiting: 1 })
  expect((await ask(token, 'get', '').expect(200)).body.pending_payout_change.activates_at).toBe(
    new Date(at.ms + OWNER_DAYS_MS.hold).toISOString(),
  )
  await ask(token, 'post', `/payout-changes/${changed.pending_payout_change.id}/cancel`).expect(200)
  const { rows } = await system.sql.query(
    "SELECT action, user_id FROM audit_log WHERE merchant_id = $1 AND action LIKE 'merchant.%freeze' ORDER BY id",
    [merchant.id],
  )
  expect(rows).toEqual([
    { action: 'merchant.freeze', user_id: 'ponte' },
    { action: 'merchant.unfreeze', user_id: 'ponte' },
  ])
  expect((await ops('/merchants/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90/freeze')).status).toBe(404)
  expect((await ops('/merchants/x/freeze')).status).toBe(404)
})

test('a secret that waits when the account is frozen never comes into force; one whose time had come is in force', async () => {
  const { token, merchant } = await newMerchant(system, { display_name: 'Padaria' })
  await ask(token, 'post', '/rotate-webhook-secret').expect(200)
  at.ms += 3_600_000
  await ops(`/merchants/${merchant.id}/freeze`)
  at.ms += 2 * 86_400_000
  const { body } = await ask(token, 'get', '').expect(200)
  expect(body).toMatchObject({ webhook_secret: merchant.webhook_secret, pending_webhook_secret: null })
  const published = async () =>
    (
      await system.sql.query(
        "SELECT body::jsonb->'data' AS data FROM outbox WHERE type = 'merchant.updated' AND body LIKE $1 ORDER BY created_at DESC LIMIT 1",
        [`%${merchant.id}%`],
      )
    ).rows[0]?.data
  expect(await published()).toMatchObject({ sealed_pending_webhook_secret: null, pending_webhook_secret_activates_at: null })
  await ops(`/merchants/${merchant.id}/unfreeze`)
  at.ms += 1_000

  const { body: rotated } = await ask(token, 'post', '/rotate-webhook-secret').expect(200)
  at.ms += 86_400_000
  await ops(`/merchants/${merchant.id}/freeze`)
  expect((await ask(token, 'get', '').expect(200)).body.webhook_secret).toBe(rotated.pending_webhook_secret)
})
