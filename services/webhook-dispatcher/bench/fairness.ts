import { randomUUID } from 'node:crypto'
import { uuidv7 } from '@ponte/service-kit'
import { administer } from '@ponte/service-kit/testing'
import { addDue, addMerchants, BODY, prepareDispatcher, startReceiver } from './rig'

type Rig = Awaited<ReturnType<typeof prepareDispatcher>>

export interface Latencies {
  /** Event to the start of its first attempt, and to its recorded delivery, in milliseconds. */
  firstAttemptMs: number[]
  deliveredMs: number[]
}

/** Events at a steady rate through the bus to these merchants; resolves when all are delivered. */
async function notify(rig: Rig, merchantIds: readonly string[], perSecond: number, seconds: number): Promise<Latencies> {
  const order = JSON.parse(BODY).data
  const ids: string[] = []
  const publish = (n: number) => {
    const data = { merchant_id: merchantIds[n % merchantIds.length], merchant_version: 1, order: { ...order, id: uuidv7() } }
    const event = { id: uuidv7(), type: 'order.paid', occurred_at: new Date().toISOString(), data, trace: null }
    ids.push(event.id)
    return rig.bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })
  }
  const total = perSecond * seconds
  const sent: Promise<void>[] = []
  const start = performance.now()
  while (sent.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * perSecond))
    while (sent.length < due) sent.push(publish(sent.length))
    await new Promise(resolve => setTimeout(resolve, 2))
  }
  await Promise.all(sent)
  for (;;) {
    const { rows } = await rig.sql.query("SELECT count(*)::int AS n FROM deliveries WHERE id = ANY($1) AND status = 'delivered'", [ids])
    if (rows[0].n === total) break
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  const { rows } = await rig.sql.query(
    `SELECT extract(epoch FROM a.started_at - e.occurred_at)::float * 1000 AS first, extract(epoch FROM d.delivered_at - e.occurred_at)::float * 1000 AS delivered
     FROM events e JOIN deliveries d ON d.id = e.id JOIN attempts a ON a.delivery_id = d.id AND a.ordinal = 1 WHERE e.id = ANY($1)`,
    [ids],
  )
  return { firstAttemptMs: rows.map(row => row.first), deliveredMs: rows.map(row => row.delivered) }
}

interface Load {
  perSecond: number
  seconds: number
  merchants: number
}

/** Healthy merchants and a receiver that hangs, beside which `measure` has events delivered, once connections and plans are made. */
async function withMerchants<T>(
  { perSecond, seconds, merchants }: Load,
  warmUpS: number,
  measure: (deliver: () => Promise<Latencies>, rig: Rig, hangingUrl: string) => Promise<T>,
  prepare: (rig: Rig, hangingUrl: string) => Promise<void> = async () => undefined,
): Promise<T> {
  const [healthy, hanging] = await Promise.all([startReceiver(0), startReceiver(60_000)])
  const rig = await prepareDispatcher()
  const ids = await addMerchants(rig.sql, merchants, healthy.url)
  await prepare(rig, hanging.url)
  const dispatcher = await rig.start()
  await notify(rig, ids, perSecond, warmUpS)
  const figures = await measure(() => notify(rig, ids, perSecond, seconds), rig, hanging.url)
  hanging.stop()
  await dispatcher.stop()
  healthy.stop()
  await rig.stop()
  return figures
}

/** A lane without a turn is not looked at: its merchant is not there. */
const takeOut = (rig: Rig, merchantIds: readonly string[]) =>
  rig.sql.query("UPDATE lanes SET turn_at = NULL, lease_token = NULL, in_flight = '{}' WHERE merchant_id = ANY($1)", [merchantIds])

export const measureLatency = (load: Load): Promise<Latencies> => withMerchants(load, 1, deliver => deliver())

/** Due deliveries of one merchant, all of one event. */
async function addBacklog(rig: Rig, merchantId: string, count: number): Promise<void> {
  const eventId = randomUUID()
  await rig.sql.query(
    "INSERT INTO events (id, merchant_id, merchant_version, type, body, occurred_at, waiting, sequence) VALUES ($1, $2, 1, 'order.paid', convert_to($3, 'UTF8'), now(), false, 1)",
    [eventId, merchantId, BODY],
  )
  await rig.sql.query(
    `INSERT INTO deliveries (id, event_id, merchant_id, event_type, status, next_attempt_at, replay_of)
     SELECT gen_random_uuid(), $1, $2, 'order.paid', 'pending', now(), gen_random_uuid() FROM generate_series(1, $3::int)`,
    [eventId, merchantId, count],
  )
  await rig.sql.query('VACUUM ANALYZE deliveries')
  // Recent writes go to the disk now and not in the midst of the measurement.
  await administer('CHECKPOINT')
}

/**
 * The same merchants in the same database, by turns with and without one whose receiver hangs and who has so many deliveries due: whatever
 * else the machine does, it does to both. Answers the milliseconds of each turn.
 */
export async function measureFairness({ rounds, hangingRows, ...load }: Load & { rounds: number; hangingRows: number }) {
  let hung = ''
  return withMerchants(
    load,
    2,
    async (deliver, rig) => {
      const [without, beside]: [number[][], number[][]] = [[], []]
      for (let round = 0; round < rounds; round += 1) {
        await takeOut(rig, [hung])
        without.push((await deliver()).deliveredMs)
        await rig.sql.query('SELECT touch_lanes(ARRAY[$1::uuid])', [hung])
        beside.push((await deliver()).deliveredMs)
      }
      return { without, beside }
    },
    async (rig, hangingUrl) => {
      hung = (await addMerchants(rig.sql, 1, hangingUrl))[0] ?? ''
      await addBacklog(rig, hung, hangingRows)
    },
  )
}

/**
 * From event to first attempt for healthy merchants at a steady rate, by turns calm and while that many endpoints, none of which was slow before, begin
 * to hang at once with so many deliveries due each. Answers the milliseconds of each turn.
 */
export const measureHanging = ({ rounds, hanging, dueEach, ...load }: Load & { rounds: number; hanging: number; dueEach: number }) =>
  withMerchants(load, 2, async (deliver, rig, hangingUrl) => {
    const [calm, beside]: [number[][], number[][]] = [[], []]
    for (let round = 0; round < rounds; round += 1) {
      calm.push((await deliver()).firstAttemptMs)
      const hung = await addMerchants(rig.sql, hanging, hangingUrl)
      await addDue(rig.sql, hung, hanging * dueEach)
      beside.push((await deliver()).firstAttemptMs)
      await takeOut(rig, hung)
    }
    return { calm, beside }
  })
