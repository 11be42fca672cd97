import { createHmac, randomUUID } from 'node:crypto'
import { seal, silentLogger, unseal, until } from '@ponte/service-kit'
import request from 'supertest'
import { createWebhookDispatcher } from '../src'
import { addEndpoint, KINDS, notifyAt, post } from './endpoints/kinds'
import { asMerchant, merchantUpdated, orderPaid, runDispatcher, SEAL_KEY, startReceiver, system, testBus } from './setup'

let receiver: Awaited<ReturnType<typeof startReceiver>>
afterAll(async () => {
  await receiver.stop()
})
runDispatcher()
beforeAll(async () => {
  receiver = await startReceiver()
})

const merchantId = randomUUID()
const [OLD, NEW] = ['whsec_old', 'whsec_new']
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

/** Publishes one event and answers which secret signed it. */
async function signedWith(): Promise<string | undefined> {
  await system.publish(orderPaid(merchantId))
  await system.dispatcher.idle()
  const last = receiver.received.at(-1)
  const signature = last?.headers['x-service-signature']
  expect(signature).toMatch(/^[0-9a-f]{64}$/)
  expect(last?.rawHeaders.filter(name => name.toLowerCase() === 'x-service-signature')).toHaveLength(1)
  return [OLD, NEW].find(
    secret =>
      createHmac('sha256', secret)
        .update(last?.body ?? '')
        .digest('hex') === signature,
  )
}

describe('secret rotation', () => {
  it('signs with the old secret while the new one is pending', async () => {
    await system.publish(merchantUpdated(merchantId, { webhook_url: receiver.url, secret: OLD }))
    expect(await signedWith()).toBe(OLD)
    const pending = { sealed_pending_webhook_secret: seal(NEW, [SEAL_KEY], merchantId), pending_webhook_secret_activates_at: inDays(1) }
    await system.publish(merchantUpdated(merchantId, { version: 2, webhook_url: receiver.url, secret: OLD, ...pending }))
    expect(await signedWith()).toBe(OLD)
  })

  it('signs with the new one when its time has come, without another word', async () => {
    const pending = {
      sealed_pending_webhook_secret: seal(NEW, [SEAL_KEY], merchantId),
      pending_webhook_secret_activates_at: inDays(-0.001),
    }
    await system.publish(merchantUpdated(merchantId, { version: 3, webhook_url: receiver.url, secret: OLD, ...pending }))
    expect(await signedWith()).toBe(NEW)
  })

  it('signs with the new one when the merchant has activated it', async () => {
    await system.publish(merchantUpdated(merchantId, { version: 4, webhook_url: receiver.url, secret: NEW }))
    expect(await signedWith()).toBe(NEW)
  })

  it('ignores settings older than those it has, in whatever order they come', async () => {
    await system.publish(merchantUpdated(merchantId, { version: 2, webhook_url: 'http://127.0.0.1:9/', secret: OLD }))
    expect(await signedWith()).toBe(NEW)
  })

  it('seals by a new SEAL_KEY what the old one sealed, in every column, and signs with the same secrets', async () => {
    const fresh = 'cd'.repeat(32)
    const [endpointId, sealed] = [randomUUID(), (text: string) => seal(text, [SEAL_KEY], endpointId)]
    await system.sql.query(
      `INSERT INTO endpoints (id, merchant_id, place, url, events, format, created_at, sealed_secret, sealed_pending_secret, sealed_headers)
       VALUES ($1, $2, 1, $3, '{}', 'ponte', now(), $4, $5, $6)`,
      [endpointId, merchantId, receiver.url, sealed('a'), sealed('b'), sealed('{}')],
    )
    const pending = { sealed_pending_webhook_secret: seal('c', [SEAL_KEY], merchantId), pending_webhook_secret_activates_at: inDays(1) }
    await system.publish(merchantUpdated(merchantId, { version: 5, webhook_url: receiver.url, secret: NEW, ...pending }))
    await system.dispatcher.idle()
    const other = createWebhookDispatcher({ ...system.config, SEAL_KEY: [fresh, SEAL_KEY] }, { bus: testBus(), logger: silentLogger })
    await other.start()
    try {
      const reseal = () => fetch(`http://127.0.0.1:${other.ops.port()}/reseal`, { method: 'POST' }).then(answer => answer.json())
      expect(await reseal()).toEqual({ resealed: 5, keys: 2 })
      expect(await reseal()).toEqual({ resealed: 0, keys: 2 })
    } finally {
      await other.stop()
    }
    const { rows } = await system.sql.query(
      `SELECT id, text FROM endpoints, LATERAL unnest(ARRAY[sealed_secret, sealed_pending_secret, sealed_headers]) AS text WHERE id = $1
       UNION ALL SELECT id, text FROM merchants, LATERAL unnest(ARRAY[sealed_webhook_secret, sealed_pending_webhook_secret]) AS text WHERE id = $2`,
      [endpointId, merchantId],
    )
    expect(rows.map(({ id, text }) => unseal(text, [fresh], id)).sort()).toEqual(['a', 'b', 'c', NEW, '{}'].sort())
    // Back to the one key of the tests that follow.
    await system.sql.query('DELETE FROM endpoints')
    await system.publish(merchantUpdated(merchantId, { version: 6, webhook_url: receiver.url, secret: NEW }))
    expect(await signedWith()).toBe(NEW)
  })
})

it.each(KINDS)('a secret of %s that cannot be opened costs the merchant nothing: that is our fault', async kind => {
  const owner = randomUUID()
  const { endpointId } = await notifyAt(system, kind, owner, receiver.url)
  const sealed = seal(NEW, ['ab'.repeat(32)], endpointId)
  await system.sql.query('UPDATE merchants SET sealed_webhook_secret = $2 WHERE id = $1', [endpointId, sealed])
  await system.sql.query('UPDATE endpoints SET sealed_secret = $2 WHERE id = $1', [endpointId, sealed])
  const before = receiver.received.length
  const paid = orderPaid(owner)
  await system.publish(paid)
  await system.dispatcher.idle()
  const { rows } = await system.sql.query('SELECT status, attempts, tries FROM deliveries WHERE event_id = $1', [paid.id])
  expect(rows).toEqual([{ status: 'pending', attempts: 0, tries: 0 }])
  expect(receiver.received).toHaveLength(before)
})

it('a secret of an endpoint that waits when its merchant is frozen never comes into force, and no other is touched', async () => {
  const [frozen, other] = [randomUUID(), randomUUID()]
  const waits = async (merchant: string, activatesAt: string) => {
    const { id } = await addEndpoint(system, merchant, { url: receiver.url, format: 'ponte' })
    await post(system, merchant, `/${id}/rotate-secret`).expect(200)
    await system.sql.query('UPDATE endpoints SET pending_secret_activates_at = $2 WHERE id = $1', [id, activatesAt])
    return String(id)
  }
  for (const merchant of [frozen, other]) await system.publish(merchantUpdated(merchant))
  await system.dispatcher.idle()
  // Rotated an hour before; in force before; rotated after the account was frozen and let go on again; another merchant's.
  const endpoints = [
    await waits(frozen, inDays(23 / 24)),
    await waits(frozen, inDays(-1 / 24)),
    await waits(frozen, inDays(2)),
    await waits(other, inDays(23 / 24)),
  ]
  const entry = {
    id: randomUUID(),
    action: 'merchant.freeze',
    changed: ['frozen'],
    user_id: 'ponte',
    created_at: inDays(0),
    payout_change: null,
  }
  const event = {
    ...orderPaid(frozen),
    type: 'account.changed',
    data: { merchant_id: frozen, merchant_version: 1, account: entry },
  } as const
  await system.publish(event, event)
  await system.dispatcher.idle()
  const { rows } = await system.sql.query(
    'SELECT id, pending_secret_activates_at IS NOT NULL AND sealed_pending_secret IS NOT NULL AS waits FROM endpoints WHERE id = ANY($1)',
    [endpoints],
  )
  expect(endpoints.map(id => rows.find(row => row.id === id)?.waits)).toEqual([false, true, true, true])
  expect((await post(system, frozen, `/${endpoints[0]}/activate-secret`)).body.code).toBe('invalid_state')
})

describe('a change of an endpoint that was on its way when the account was frozen', () => {
  const asked = { url: 'https://thief.example/hook', events: ['*'] }
  const stop = async (merchant: string) => {
    await system.publish(merchantUpdated(merchant, { version: 2 }))
    await system.dispatcher.idle()
  }
  const made = async () => {
    const merchant = randomUUID()
    await system.publish(merchantUpdated(merchant))
    await system.dispatcher.idle()
    const { id } = await addEndpoint(system, merchant, { url: receiver.url, format: 'ponte' })
    return { merchant, id: String(id) }
  }
  const of = async (merchant: string) =>
    (await system.sql.query('SELECT url, sealed_pending_secret AS pending, deleted_at FROM endpoints WHERE merchant_id = $1', [merchant]))
      .rows
  const untouched = () => [{ url: receiver.url, pending: null, deleted_at: null }]

  it('is refused: it was decided under an earlier version of the merchant', async () => {
    const { merchant, id } = await made()
    await stop(merchant)
    const answers = [
      await post(system, merchant, `/${id}/rotate-secret`),
      await post(system, merchant, '', asked),
      await request(system.url).patch(`/api/v1/webhook-endpoints/${id}`).set(asMerchant(merchant)).send({ url: asked.url }),
      await request(system.url).delete(`/api/v1/webhook-endpoints/${id}`).set(asMerchant(merchant)),
    ]
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(answers.map(() => [409, 'invalid_state']))
    expect(await of(merchant)).toEqual(untouched())
    await request(system.url).post(`/api/v1/webhook-endpoints/${id}/rotate-secret`).set(asMerchant(merchant, 2)).expect(200)
  })

  it('is refused also where both are written at one moment', async () => {
    const { merchant, id } = await made()
    const client = await system.sql.connect()
    await client.query('BEGIN')
    await client.query('UPDATE merchants SET version = 2 WHERE id = $1', [merchant])
    const asking = Promise.all([post(system, merchant, `/${id}/rotate-secret`), post(system, merchant, '', asked)])
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    await until(async () => (await system.sql.query(waiting)).rows.length === 2, 'the changes do not wait for the one of the account')
    await client.query('COMMIT')
    client.release()
    expect((await asking).map(({ status, body }) => [status, body.code])).toEqual([
      [409, 'invalid_state'],
      [409, 'invalid_state'],
    ])
    expect(await of(merchant)).toEqual(untouched())
  })
})
