import { randomUUID } from 'node:crypto'
import { type Logger, until } from '@ponte/service-kit'
import { KINDS, notifyAt } from './endpoints/kinds'
import { orderPaid, runDispatcher, startReceiver, system } from './setup'

// PostgreSQL ends connections by itself (57P01): on a switchover, by an operator, at a limit.

const ROUNDS = 8
const EVENTS_PER_ROUND = 12

const lines: string[] = []
const keep = (message: string) => void lines.push(message)
const logger: Logger = { error: keep, warn: keep, info: () => undefined, debug: () => undefined, child: () => logger }

runDispatcher({}, { logger })

it('connections that PostgreSQL ends amid consuming and delivering lose nothing, cost no attempt, and are a line a turn', async () => {
  const came = new Map<string, number>()
  const receiver = await startReceiver((res, { body }) => {
    const { id } = JSON.parse(body.toString('utf8')).data
    came.set(id, (came.get(id) ?? 0) + 1)
    setTimeout(() => res.writeHead(200).end(), 10)
  })
  const merchants = KINDS.map(() => randomUUID())
  for (const [n, kind] of KINDS.entries()) await notifyAt(system, kind, merchants[n] ?? '', receiver.url)
  const publishing: Promise<void>[] = []
  let ended = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = came.size
    const events = Array.from({ length: EVENTS_PER_ROUND }, (_, n) => orderPaid(merchants[n % merchants.length] ?? ''))
    publishing.push(system.publish(...events))
    await until(() => came.size > before, 'deliveries do not go on')
    const { rowCount } = await system.sql.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'webhook-dispatcher'",
    )
    ended += rowCount ?? 0
  }
  await Promise.all(publishing)
  await until(() => came.size === ROUNDS * EVENTS_PER_ROUND, 'not every event is delivered', 60_000)
  // The question whether it is idle may itself meet a connection that has just ended.
  const isIdle = () =>
    system.dispatcher.idle().then(
      () => true,
      error => {
        if (!/terminating connection/.test(error.message)) throw error
        return false
      },
    )
  await until(isIdle, 'it is never idle', 60_000)

  const { rows } = await system.sql.query(
    `SELECT d.status, d.attempts, d.tries, d.losses, e.body, (SELECT count(*)::int FROM attempts a WHERE a.delivery_id = d.id) AS logged
     FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.merchant_id = ANY($1)`,
    [merchants],
  )
  expect(rows).toHaveLength(ROUNDS * EVENTS_PER_ROUND)
  expect(ended).toBeGreaterThanOrEqual(ROUNDS)
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  // A turn that failed is a line, however many deliveries were in it.
  expect(Math.max(0, ...counts.values())).toBeLessThanOrEqual(ROUNDS)
  for (const { body, ...delivery } of rows) {
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 1, logged: delivery.tries })
    expect(came.get(JSON.parse(body.toString('utf8')).data.id)).toBe(delivery.tries)
  }
  await receiver.stop()
})
