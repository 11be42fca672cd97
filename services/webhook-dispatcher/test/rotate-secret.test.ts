import { createHmac, randomUUID } from 'node:crypto'
import { seal } from '@ponte/service-kit'
import { merchantUpdated, orderPaid, SEAL_KEY, type System, startDispatcher, startReceiver } from './setup'

let system: System
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeAll(async () => {
  system = await startDispatcher()
  receiver = await startReceiver()
})
afterAll(async () => {
  await system.stop()
  await receiver.stop()
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
    const pending = { sealed_pending_webhook_secret: seal(NEW, SEAL_KEY, merchantId), pending_webhook_secret_activates_at: inDays(1) }
    await system.publish(merchantUpdated(merchantId, { version: 2, webhook_url: receiver.url, secret: OLD, ...pending }))
    expect(await signedWith()).toBe(OLD)
  })

  it('signs with the new one when its time has come, without another word', async () => {
    const pending = { sealed_pending_webhook_secret: seal(NEW, SEAL_KEY, merchantId), pending_webhook_secret_activates_at: inDays(-0.001) }
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

  it('costs the merchant nothing when the secret cannot be opened: that is our fault', async () => {
    const sealed = seal(NEW, 'ab'.repeat(32), merchantId)
    await system.publish(merchantUpdated(merchantId, { version: 5, webhook_url: receiver.url, sealed_webhook_secret: sealed }))
    const before = receiver.received.length
    const paid = orderPaid(merchantId)
    await system.publish(paid)
    await system.dispatcher.idle()
    const { rows } = await system.sql.query('SELECT status, attempts, tries FROM deliveries WHERE event_id = $1', [paid.id])
    expect(rows).toEqual([{ status: 'pending', attempts: 0, tries: 0 }])
    expect(receiver.received).toHaveLength(before)
  })
})
