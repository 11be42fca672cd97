import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ServiceName, serviceNames } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { parse } from 'yaml'
import { call, createMerchant, pay, runSystem, system, world } from '../world'

const root = join(__dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

// Nothing listens there and nothing is sent; the metrics of mail are those of a gateway that has a server.
const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'Ponte <no-reply@ponte.example>' }
runSystem({ settings: { 'api-gateway': mail }, merchant: false })

/** Metrics of each service: the kit's own, and those of its subject. */
const database = [
  'ponte_database_answers',
  'ponte_database_connections_used',
  'ponte_database_connections_max',
  'ponte_database_connections_awaited',
]
const requests = ['ponte_http_request_duration_seconds']
const outbox = ['ponte_outbox_oldest_age_seconds', 'ponte_outbox_published_total']
const queue = ['ponte_queue_waiting', 'ponte_events_handled_total', 'ponte_event_handling_seconds']
const expected: Record<ServiceName, string[]> = {
  'api-gateway': [...database, ...requests, ...outbox, 'ponte_live_streams'],
  orders: [
    ...database,
    ...requests,
    ...outbox,
    ...queue,
    'ponte_order_transitions_total',
    'ponte_quote_age_seconds',
    'ponte_quote_lasts_seconds',
  ],
  subscriptions: [...database, ...requests, ...outbox, ...queue, 'ponte_subscription_overdue_seconds'],
  'chain-listener': [...database, ...requests, ...outbox, ...queue, 'ponte_chain_lag_seconds', 'ponte_chain_leader'],
  'webhook-dispatcher': [
    ...database,
    ...requests,
    ...queue,
    ...['ponte_webhook_attempts_total', 'ponte_webhook_deliveries_total', 'ponte_webhook_oldest_due_age_seconds'],
  ],
}

it.each(serviceNames)('%s exposes what an operator asks of it', async name => {
  const text = await (await fetch(`${system.opsUrls[name]}/metrics`)).text()
  const exposed = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, metric]) => metric)
  expect(exposed).toEqual(expect.arrayContaining(expected[name]))
})

it.each(serviceNames)('%s counts from 0: no counter first appears as 1, which escapes increase()', async name => {
  const text = await (await fetch(`${system.opsUrls[name]}/metrics`)).text()
  const counters = [...text.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, metric]) => metric ?? '')
  expect(counters.length).toBeGreaterThan(0)
  expect(counters.filter(counter => !new RegExp(`^${counter}(\\{| )`, 'm').test(text))).toEqual([])
})

it('a payment moves the figures that belong to it', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  await pay(world.chain, order)
  await system.idle()
  const text = (await Promise.all(serviceNames.map(async name => (await fetch(`${system.opsUrls[name]}/metrics`)).text()))).join('\n')
  const lines = [
    /^ponte_http_request_duration_seconds_count\{(?=.*route="\/api\/v1\/orders")(?=.*status="201")(?=.*"api-gateway").* 1$/m,
    /^ponte_order_transitions_total\{(?=.*to="paid").* 1$/m,
    /^ponte_webhook_attempts_total\{(?=.*outcome="delivered").* 1$/m,
    /^ponte_events_handled_total\{(?=.*"chain.blocks")(?=.*outcome="done").* [1-9]/m,
    /^ponte_outbox_oldest_age_seconds\{service="orders"\} 0$/m,
    /^ponte_webhook_oldest_due_age_seconds\{.*\} 0$/m,
  ]
  expect(lines.filter(line => !line.test(text))).toEqual([])
})

/**
 * The bus of this system is in its process and has no connections: service-kit's tests read these from the RabbitMQ one. The last is written by the backup's
 * script for the host's exporter.
 */
const ELSEWHERE = ['ponte_bus_accepts', 'ponte_bus_connections', 'ponte_backup_last_success_timestamp_seconds']

it('every metric that an alert or a panel names is exposed by the running system', async () => {
  interface Rules {
    groups: { rules: { expr: string }[] }[]
  }
  interface Dashboard {
    panels: { targets?: { expr: string }[] }[]
  }
  const queries = [
    ...(parse(read('infra/prometheus/alerts.yaml')) as Rules).groups.flatMap(group => group.rules.map(rule => rule.expr)),
    ...(JSON.parse(read('infra/grafana/ponte.json')) as Dashboard).panels.flatMap(panel => (panel.targets ?? []).map(each => each.expr)),
    read('infra/prometheus/adapter.yaml'),
  ]
  const named = new Set(queries.flatMap(query => query.match(/\bponte_[a-z0-9_]+/g) ?? []))
  expect(named.size).toBeGreaterThan(20)
  const scrape = async () => {
    const texts = await Promise.all(Object.values(system.opsUrls).map(async url => (await fetch(`${url}/metrics`)).text()))
    return texts.join('\n')
  }
  const text = await scrape()
  const exposed = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [`${name}`],
    ),
  )
  expect([...named].filter(name => !exposed.has(name) && !ELSEWHERE.includes(name))).toEqual([])
})
