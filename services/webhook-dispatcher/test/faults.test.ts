import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { until } from '@ponte/service-kit'
import { KINDS } from './endpoints/kinds'
import { startReplicas } from './replicas'
import { orderPaid, startReceiver } from './setup'

type Replicas = Awaited<ReturnType<typeof startReplicas>>
let replicas: Replicas
beforeAll(async () => {
  replicas = await startReplicas()
})
afterAll(() => replicas.stop())

const row = async (eventId: string) => (await replicas.sql.query('SELECT * FROM deliveries WHERE event_id = $1', [eventId])).rows[0]
const deliveriesOf = (eventIds: readonly string[]) => Promise.all(eventIds.map(row))
const inFlight = async (deliveryId: string) =>
  (await replicas.sql.query('SELECT in_flight FROM lanes WHERE $1::uuid = ANY(in_flight)', [deliveryId])).rows[0]?.in_flight
const log = async (deliveryId: string) =>
  (
    await replicas.sql.query('SELECT outcome, http_status, error_code FROM attempts WHERE delivery_id = $1 ORDER BY ordinal', [deliveryId])
  ).rows.map(each => `${each.outcome} ${each.http_status ?? each.error_code}`)

/** A receiver that keeps each request waiting until the test answers it. */
async function startPatientReceiver() {
  const waiting: ServerResponse[] = []
  const receiver = await startReceiver(res => void waiting.push(res))
  return {
    ...receiver,
    async answer(nth: number, status: number) {
      await until(() => waiting.length > nth, 'no request came', 40_000)
      waiting[nth]?.writeHead(status).end()
    },
    came: (count: number) => until(() => waiting.length >= count, `fewer than ${count} requests came`, 40_000),
  }
}

/** A merchant for each kind of endpoint, each with a receiver of its own and one event to come. */
const oneOfEachKind = () =>
  Promise.all(
    KINDS.map(async kind => {
      const receiver = await startPatientReceiver()
      const merchantId = randomUUID()
      const known = await replicas.notifyAt(kind, merchantId, receiver.url)
      const paid = orderPaid(merchantId)
      return { receiver, paid, publish: () => replicas.publish(known, paid) }
    }),
  )

describe('kill -9 in mid-delivery, at each kind of endpoint', () => {
  it('the delivery is made by another replica, with the same bytes, and costs the merchant no attempt', async () => {
    const each = await oneOfEachKind()
    const ids = each.map(({ paid }) => paid.id)
    const victim = await replicas.start()
    await Promise.all(each.map(({ publish }) => publish()))
    await Promise.all(each.map(({ receiver }) => receiver.came(1)))
    await victim.end('SIGKILL')
    for (const { id } of await deliveriesOf(ids)) expect(await inFlight(id)).toEqual([id])
    const heir = await replicas.start()
    await replicas.endLeases()
    await Promise.all(each.map(({ receiver }) => receiver.answer(1, 204)))
    await until(async () => (await deliveriesOf(ids)).every(({ status }) => status === 'delivered'), 'not delivered', 40_000)
    for (const delivery of await deliveriesOf(ids)) {
      expect([delivery.attempts, delivery.losses, delivery.tries]).toEqual([1, 1, 2])
      expect(await log(delivery.id)).toEqual(['failed worker_lost', 'delivered 204'])
    }
    for (const { receiver } of each) expect(receiver.received[0]?.body.equals(receiver.received[1]?.body ?? Buffer.of())).toBe(true)
    expect(await heir.end('SIGTERM')).toBe(0)
    await Promise.all(each.map(({ receiver }) => receiver.stop()))
  })
})

describe('SIGSTOP past the lease and back, at each kind of endpoint', () => {
  it('the stale worker changes nothing', async () => {
    const each = await oneOfEachKind()
    const ids = each.map(({ paid }) => paid.id)
    const stale = await replicas.start()
    await Promise.all(each.map(({ publish }) => publish()))
    await Promise.all(each.map(({ receiver }) => receiver.came(1)))
    stale.signal('SIGSTOP')
    const heir = await replicas.start()
    await replicas.endLeases()
    await Promise.all(each.map(({ receiver }) => receiver.came(2)))
    await Promise.all(each.map(({ receiver }) => receiver.answer(1, 500)))
    const attempted = async () => (await deliveriesOf(ids)).every(({ attempts }) => attempts === 1)
    await until(attempted, 'the second attempts are not recorded', 40_000)
    const before = await deliveriesOf(ids)
    // Their answer was success, but it comes too late.
    await Promise.all(each.map(({ receiver }) => receiver.answer(0, 200)))
    stale.signal('SIGCONT')
    const fenced = async () => (await stale.metric('ponte_webhook_fenced_total')) === KINDS.length
    await until(fenced, 'the stale worker did not end its attempts', 40_000)
    expect(await deliveriesOf(ids)).toEqual(before)
    for (const delivery of before) {
      expect(await log(delivery.id)).toEqual(['failed worker_lost', 'failed 500'])
      expect(delivery).toMatchObject({ status: 'pending', attempts: 1, losses: 1 })
    }
    await Promise.all([stale.end('SIGTERM'), heir.end('SIGTERM')])
    await Promise.all(each.map(({ receiver }) => receiver.stop()))
  })
})

describe('three replicas, PostgreSQL and RabbitMQ crashing and starting again, one replica killed', () => {
  it('every event is delivered or scheduled, no attempt is recorded twice, the schedule is unbroken', async () => {
    const seen = new Map<string, number>()
    const receiver = await startReceiver((res, { body }) => {
      const id = JSON.parse(body.toString('utf8')).data.id
      seen.set(id, (seen.get(id) ?? 0) + 1)
      // One event in five is refused, always.
      setTimeout(() => res.writeHead(Number.parseInt(id.slice(0, 2), 16) % 5 === 0 ? 503 : 200).end(), 20)
    })
    const merchants = Array.from({ length: 8 }, () => randomUUID())
    const events = Array.from({ length: 320 }, (_, n) => orderPaid(merchants[n % merchants.length] ?? ''))
    const [first, second, third] = await Promise.all([replicas.start(), replicas.start(), replicas.start()])
    const known = merchants.map((id, n) => replicas.notifyAt(KINDS[n % KINDS.length] ?? 'webhook_url', id, receiver.url))
    await replicas.publish(...(await Promise.all(known)))
    const publishing = (async () => {
      for (let at = 0; at < events.length; at += 16) await replicas.publish(...events.slice(at, at + 16))
    })()
    await until(() => seen.size > 40, 'deliveries did not begin', 40_000)
    await replicas.restart('postgres')
    await until(() => seen.size > 100, 'deliveries did not go on after PostgreSQL came back', 40_000)
    await replicas.restart('broker')
    await first?.end('SIGKILL')
    await publishing
    // The killed worker's deliveries are free when its lease ends: time passes for all leases that old.
    const killedAt = new Date()
    const settled = async () => {
      await replicas.endLeases(killedAt)
      const { rows } = await replicas.sql.query(
        `SELECT (SELECT count(*)::int FROM events WHERE merchant_id = ANY($1)) AS events,
           count(*) FILTER (WHERE status = 'pending' AND next_attempt_at <= now())::int AS open FROM deliveries WHERE merchant_id = ANY($1)`,
        [merchants],
      )
      return rows[0].events === events.length && rows[0].open === 0
    }
    await until(settled, 'some deliveries are neither made nor scheduled', 60_000)

    const { rows } = await replicas.sql.query(
      `SELECT d.*, e.id AS event, (SELECT count(*)::int FROM attempts a WHERE a.delivery_id = d.id) AS logged,
         (SELECT count(*)::int FROM attempts a WHERE a.delivery_id = d.id AND outcome = 'delivered') AS successes,
         extract(epoch FROM d.next_attempt_at - (SELECT max(started_at + duration_ms * interval '1 ms') FROM attempts a WHERE a.delivery_id = d.id))::float AS delay
       FROM events e LEFT JOIN deliveries d ON d.event_id = e.id WHERE e.merchant_id = ANY($1)`,
      [merchants],
    )
    expect(rows).toHaveLength(events.length)
    const table = [0, 60, 300]
    for (const delivery of rows) {
      expect(delivery.logged).toBe(delivery.tries)
      expect(delivery.tries).toBe(delivery.attempts + Math.min(delivery.losses, 1))
      expect(delivery.successes).toBe(delivery.status === 'delivered' ? 1 : 0)
      if (delivery.status !== 'delivered') {
        expect(delivery.status).toBe('pending')
        expect(delivery.delay).toBeGreaterThanOrEqual((table[delivery.attempts] ?? 0) - 0.005)
        expect(delivery.delay).toBeLessThan((table[delivery.attempts] ?? 0) + 2)
      }
    }
    expect(seen.size).toBe(events.length)
    // A puller by sequence has every event once, although a replica was killed and the servers crashed.
    const numbered = await replicas.sql.query(
      'SELECT array_agg(sequence::int ORDER BY sequence) AS sequences FROM events WHERE merchant_id = ANY($1) GROUP BY merchant_id',
      [merchants],
    )
    const each = Array.from({ length: events.length / merchants.length }, (_, n) => n + 1)
    expect(numbered.rows.map(row => row.sequences)).toEqual(merchants.map(() => each))
    const lanes = await replicas.sql.query(
      `SELECT count(*)::int AS stuck FROM lanes l WHERE turn_at IS NULL AND EXISTS (SELECT 1 FROM deliveries d WHERE coalesce(d.endpoint_id, d.merchant_id) = l.endpoint_id AND status = 'pending')`,
    )
    expect(lanes.rows).toEqual([{ stuck: 0 }])
    expect(await Promise.all([second, third].map(replica => replica?.end('SIGTERM')))).toEqual([0, 0])
    await receiver.stop()
  })
})
