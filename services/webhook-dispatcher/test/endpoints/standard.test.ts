import { createHmac, randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { merchantUpdated, orderPaid, type Received, runDispatcher, startReceiver, system } from '../setup'
import { addEndpoint, post } from './kinds'

runDispatcher()

const headersOf = ({ headers }: Received): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
/** The library of Standard Webhooks reads a request: answers its body, or throws. */
const verified = (secret: string, received: Received) => new Webhook(secret).verify(received.body, headersOf(received))
const isVerified = (secret: string, received: Received): boolean => {
  try {
    verified(secret, received)
    return true
  } catch {
    return false
  }
}

async function standardEndpoint(answer?: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(answer)
  const merchantId = randomUUID()
  await system.publish(merchantUpdated(merchantId))
  const { id, secret } = await addEndpoint(system, merchantId, { url: receiver.url, format: 'standard' })
  return { receiver, merchantId, id, secret }
}

describe('the format of Standard Webhooks', () => {
  it('is what the standardwebhooks library verifies, with the same bytes and the signature of the other format besides', async () => {
    const { receiver, merchantId, secret } = await standardEndpoint()
    const paid = orderPaid(merchantId)
    await system.publish(paid)
    await system.dispatcher.idle()
    const [received] = receiver.received
    if (!received) throw new Error('Nothing was received.')
    expect(verified(secret, received)).toEqual({ type: 'order.paid', data: paid.type === 'order.paid' ? paid.data.order : null })
    const { rows } = await system.sql.query('SELECT body FROM events WHERE id = $1', [paid.id])
    expect(received.body.equals(rows[0].body)).toBe(true)
    expect(received.headers['webhook-id']).toBe(paid.id)
    expect(received.headers['x-service-signature']).toBe(createHmac('sha256', secret).update(received.body).digest('hex'))
    const other = `whsec_${Buffer.alloc(32).toString('base64')}`
    expect([isVerified(other, received), isVerified(secret, { ...received, body: Buffer.from(`${received.body} `) })]).toEqual([
      false,
      false,
    ])
    await receiver.stop()
  })

  it('keeps the id over attempts and replays, and dates each attempt', async () => {
    let status = 500
    const { receiver, merchantId, id, secret } = await standardEndpoint(res => res.writeHead(status).end())
    const paid = orderPaid(merchantId)
    await system.publish(paid)
    await system.dispatcher.idle()
    status = 200
    await system.sql.query('UPDATE deliveries SET next_attempt_at = now() WHERE endpoint_id = $1', [id])
    await system.sql.query('UPDATE lanes SET turn_at = now() WHERE endpoint_id = $1', [id])
    await system.dispatcher.idle()
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([paid.id, paid.id])
    expect(receiver.received.map(received => isVerified(secret, received))).toEqual([true, true])
    for (const { headers, atMs } of receiver.received)
      expect(Math.abs(Number(headers['webhook-timestamp']) - atMs / 1_000)).toBeLessThan(30)
    await receiver.stop()
  })

  it('numbers the events of a merchant, so that a receiver can order them', async () => {
    const { receiver, merchantId } = await standardEndpoint()
    const events = Array.from({ length: 9 }, () => orderPaid(merchantId))
    for (const each of events) await system.publish(each)
    await system.dispatcher.idle()
    const ordered = receiver.received.toSorted((a, b) => Number(a.headers['webhook-sequence']) - Number(b.headers['webhook-sequence']))
    expect(ordered.map(({ headers }) => headers['webhook-sequence'])).toEqual(events.map((_, index) => String(index + 1)))
    expect(ordered.map(({ headers }) => headers['webhook-id'])).toEqual(events.map(({ id }) => id))
    await receiver.stop()
  })
})

describe('rotation of a secret', () => {
  it('under load costs no receiver that knows the old or the new secret one 401, without an activation', async () => {
    const secrets: string[] = []
    let refused = 0
    const { receiver, merchantId, id, secret } = await standardEndpoint((res, received) => {
      // The receiver moves on to the new secret some time after the rotation.
      const isTaken = secrets.slice(-1).some(current => isVerified(current, received))
      if (!isTaken) refused += 1
      res.writeHead(isTaken ? 200 : 401).end()
    })
    secrets.push(secret)
    const load = async (count: number) => {
      for (let n = 0; n < count; n += 1) await system.publish(orderPaid(merchantId))
    }
    const before = load(30)
    const { body } = await post(system, merchantId, `/${id}/rotate-secret`)
    await before
    await load(20)
    await system.dispatcher.idle()
    secrets.push(body.pending_secret)
    await load(20)
    // The day is over: only the new one signs from now on.
    await system.sql.query("UPDATE endpoints SET pending_secret_activates_at = now() - interval '1 second' WHERE id = $1", [id])
    await load(20)
    await system.dispatcher.idle()
    expect([refused, receiver.received.length]).toEqual([0, 90])
    const [first, last] = [receiver.received[45], receiver.received.at(-1)]
    expect(String(first?.headers['webhook-signature']).split(' ')).toHaveLength(2)
    expect(String(last?.headers['webhook-signature']).split(' ')).toHaveLength(1)
    await receiver.stop()
  })

  it('in the ponte format waits for the activation, as at the webhook_url', async () => {
    const receiver = await startReceiver()
    const merchantId = randomUUID()
    await system.publish(merchantUpdated(merchantId))
    const { id, secret } = await addEndpoint(system, merchantId, { url: receiver.url })
    const signedWith = async (...candidates: string[]) => {
      await system.publish(orderPaid(merchantId))
      await system.dispatcher.idle()
      const last = receiver.received.at(-1)
      const signature = (candidate: string) =>
        createHmac('sha256', candidate)
          .update(last?.body ?? '')
          .digest('hex')
      return candidates.findIndex(candidate => signature(candidate) === last?.headers['x-service-signature'])
    }
    expect((await post(system, merchantId, `/${id}/activate-secret`)).body.code).toBe('invalid_state')
    const { body } = await post(system, merchantId, `/${id}/rotate-secret`)
    expect(await signedWith(secret, body.pending_secret)).toBe(0)
    const activated = await post(system, merchantId, `/${id}/activate-secret`)
    expect(activated.body).toMatchObject({ secret: body.pending_secret, pending_secret: null })
    expect(await signedWith(secret, body.pending_secret)).toBe(1)
    await receiver.stop()
  })
})
