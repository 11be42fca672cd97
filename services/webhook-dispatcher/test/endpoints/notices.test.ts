import { randomUUID } from 'node:crypto'
import { parseEvent } from '@ponte/contracts'
import { openDatabase, until } from '@ponte/service-kit'
import { openStore } from '../../src/store'
import { merchantUpdated, orderPaid, runDispatcher, system } from '../setup'
import { addEndpoint } from './kinds'

runDispatcher()

/** Done by each replica every minute, by two of them at one moment. */
const publish = async () => {
  const own = openDatabase({ url: system.databaseUrl })
  const { notices } = openStore(own)
  await Promise.all([notices.publish(), notices.publish()])
  await own.stop?.()
}
const published = async (merchantId: string) => {
  const { rows } = await system.sql.query("SELECT body FROM outbox WHERE type = 'endpoint.failing' AND body LIKE $1 ORDER BY id", [
    `%${merchantId}%`,
  ])
  return rows.map(({ body }) => {
    const event = parseEvent(JSON.parse(body))
    return event.type === 'endpoint.failing' ? event.data : null
  })
}

test('deliveries that are dead are published once for each endpoint, by its host, and a deleted endpoint is no news', async () => {
  const merchantId = randomUUID()
  await system.publish(merchantUpdated(merchantId, { webhook_url: 'http://10.0.0.1/hook?token=hush-42' }))
  const other = await addEndpoint(system, merchantId, { url: 'http://10.0.0.2/hush-43', events: ['order.paid'] })
  const gone = await addEndpoint(system, merchantId, { url: 'http://10.0.0.3/', events: ['order.paid'] })
  await system.publish(orderPaid(merchantId), orderPaid(merchantId), orderPaid(merchantId))
  const dead = async () =>
    (await system.sql.query("SELECT 1 FROM deliveries WHERE merchant_id = $1 AND status = 'dead'", [merchantId])).rows.length
  await until(async () => (await dead()) === 9, 'The deliveries are not dead.')
  await system.sql.query('UPDATE endpoints SET deleted_at = now() WHERE id = $1', [gone.id])
  await publish()
  await publish()
  const events = await published(merchantId)
  const total = new Map<string, number>()
  for (const event of events) if (event) total.set(event.endpoint_id, (total.get(event.endpoint_id) ?? 0) + event.dead)
  expect(Object.fromEntries(total)).toEqual({ [merchantId]: 3, [other.id]: 3 })
  expect(new Set(events.map(event => event?.host))).toEqual(new Set(['10.0.0.1', '10.0.0.2']))
  expect(JSON.stringify(events)).not.toContain('hush')
})

test('an endpoint that has failed for a day is published once, and again when it fails anew', async () => {
  const merchantId = randomUUID()
  const { id } = await addEndpoint(system, merchantId, { url: 'https://example.com/', events: ['order.paid'] })
  const failSince = (ago: string) =>
    system.sql.query(`UPDATE lanes SET failing_since = now() - interval '${ago}' WHERE endpoint_id = $1`, [id])
  await failSince('23 hours')
  await publish()
  expect(await published(merchantId)).toEqual([])
  await failSince('25 hours')
  await publish()
  await publish()
  const [first, ...more] = await published(merchantId)
  expect([first, more]).toEqual([
    expect.objectContaining({ endpoint_id: id, host: 'example.com', dead: 0, failing_since: expect.any(String) }),
    [],
  ])
  await failSince('26 hours')
  await publish()
  expect(await published(merchantId)).toHaveLength(2)
})
