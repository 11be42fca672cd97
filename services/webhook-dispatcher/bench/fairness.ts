import { uuidv7 } from '@ponte/service-kit'
import { addDue, addMerchants, BODY, prepareDispatcher, startReceiver } from './rig'

export interface Latencies {
  /** Event to the start of its first attempt, and to its recorded delivery, in milliseconds. */
  firstAttemptMs: number[]
  deliveredMs: number[]
}

/**
 * Events at a steady rate to healthy merchants, through the bus, while one merchant's receiver hangs with so many deliveries due.
 */
export async function measureLatency(options: {
  perSecond: number
  seconds: number
  merchants: number
  hangingRows: number
}): Promise<Latencies> {
  const [healthy, hanging] = await Promise.all([startReceiver(0), startReceiver(60_000)])
  const rig = await prepareDispatcher()
  const ids = await addMerchants(rig.sql, options.merchants, healthy.url)
  const [hung] = await addMerchants(rig.sql, 1, hanging.url)
  if (hung && options.hangingRows > 0) await addDue(rig.sql, [hung], options.hangingRows)
  const dispatcher = await rig.start()
  const order = JSON.parse(BODY).data
  const publish = (n: number) => {
    const data = { merchant_id: ids[n % ids.length], merchant_version: 1, order: { ...order, id: uuidv7() } }
    const event = { id: uuidv7(), type: 'order.paid', occurred_at: new Date().toISOString(), data, trace: null }
    return rig.bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })
  }
  // The first second is for connections and plans, and is not counted.
  const warm = options.perSecond
  const total = warm + options.perSecond * options.seconds
  const sent: Promise<void>[] = []
  const start = performance.now()
  while (sent.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * options.perSecond))
    while (sent.length < due) sent.push(publish(sent.length))
    await new Promise(resolve => setTimeout(resolve, 2))
  }
  await Promise.all(sent)
  const filter = 'e.merchant_id = ANY($1)'
  for (;;) {
    const { rows } = await rig.sql.query(`SELECT count(*)::int AS n FROM deliveries e WHERE ${filter} AND status = 'delivered'`, [ids])
    if (rows[0].n === total) break
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  const { rows } = await rig.sql.query(
    `SELECT extract(epoch FROM a.started_at - e.occurred_at)::float * 1000 AS first, extract(epoch FROM d.delivered_at - e.occurred_at)::float * 1000 AS delivered
     FROM events e JOIN deliveries d ON d.event_id = e.id JOIN attempts a ON a.delivery_id = d.id AND a.ordinal = 1
     WHERE ${filter} ORDER BY e.occurred_at OFFSET $2`,
    [ids, warm],
  )
  hanging.stop()
  await dispatcher.stop()
  healthy.stop()
  await rig.stop()
  return { firstAttemptMs: rows.map(row => row.first), deliveredMs: rows.map(row => row.delivered) }
}
