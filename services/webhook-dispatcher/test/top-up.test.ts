import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { silentLogger, until } from '@ponte/service-kit'
import { createWebhookDispatcher } from '../src'
import { FIRST_WIDTH } from '../src/lanes/lane'
import { KINDS, type Kind, notifyAt } from './endpoints/kinds'
import { orderPaid, runDispatcher, startReceiver, system, testBus } from './setup'

let receiver: Awaited<ReturnType<typeof startReceiver>>
let open: ServerResponse[] = []
runDispatcher()
beforeEach(async () => {
  open = []
  receiver = await startReceiver(res => void open.push(res))
})
afterEach(async () => {
  await answerAll()
  await receiver.stop()
})

/** Answers what is open, and what comes after it, until nothing is due. */
async function answerAll() {
  const answering = async () => {
    for (const res of open.splice(0)) res.writeHead(200).end()
    return !(await system.dispatcher.busy())
  }
  await until(answering, 'deliveries do not end')
}
const count = (wanted: number) =>
  until(
    () => open.length >= wanted,
    () => `${open.length} of ${wanted} attempts have started`,
    10_000,
  )

/** A merchant whose first event is in flight and unanswered. */
async function merchantInFlight(kind: Kind) {
  const merchantId = randomUUID()
  const { endpointId } = await notifyAt(system, kind, merchantId, receiver.url)
  await system.publish(orderPaid(merchantId))
  await count(1)
  return { merchantId, endpointId }
}

describe.each(KINDS)('first attempts of one merchant at %s', kind => {
  it('start together within the width of the lane: what arrives while it is held does not wait for what is in flight', async () => {
    const { merchantId, endpointId } = await merchantInFlight(kind)
    for (let n = 0; n < 20; n += 1) await system.publish(orderPaid(merchantId))
    await count(FIRST_WIDTH)
    const { rows } = await system.sql.query('SELECT cardinality(in_flight) AS n FROM lanes WHERE endpoint_id = $1', [endpointId])
    expect([rows[0].n, open.length]).toEqual([FIRST_WIDTH, FIRST_WIDTH])
  })

  it('start although the event came to another replica than the one that holds the lane', async () => {
    const { merchantId } = await merchantInFlight(kind)
    const bus = testBus()
    const other = createWebhookDispatcher(system.config, { bus, logger: silentLogger })
    await other.start()
    const paid = orderPaid(merchantId)
    await bus.publish({ id: paid.id, type: paid.type, body: JSON.stringify(paid) })
    await count(2)
    await answerAll()
    await other.stop()
  })
})
