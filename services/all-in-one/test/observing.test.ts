import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OrderBody } from '@ponte/contracts'
import { type Part, type ReadableSpan, startTracing } from '@ponte/service-kit'
import { parse } from 'yaml'
import { type System, startAll } from '../src'
import { call, createMerchant, pay, startWorld, type World } from './system'

const root = join(__dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

let world: World
let system: System
let tracing: Part
const spans: ReadableSpan[] = []
beforeAll(async () => {
  tracing = await startTracing({
    service: 'ponte',
    exporter: {
      export(finished, done) {
        spans.push(...finished)
        done({ code: 0 })
      },
      shutdown: async () => undefined,
    },
  })
  world = await startWorld()
  system = await startAll(world.place, { logger: world.logger })
}, 60_000)
afterAll(async () => {
  await system?.stop()
  await world?.stop()
  await tracing?.stop?.()
})

/** One trace, each span under its parent, in order of time; milliseconds since the trace began and how long it took. */
function tree(traceId: string): string {
  const mine = spans.filter(span => span.spanContext().traceId === traceId)
  const at = (span: ReadableSpan) => span.startTime[0] * 1e3 + span.startTime[1] / 1e6
  const start = Math.min(...mine.map(at))
  const known = new Set(mine.map(span => span.spanContext().spanId))
  const under = (parent: string | undefined, indent: string): string[] =>
    mine
      .filter(span => {
        const of = span.parentSpanContext?.spanId
        return parent === undefined ? of === undefined || !known.has(of) : of === parent
      })
      .sort((a, b) => at(a) - at(b))
      .flatMap(span => {
        const took = span.duration[0] * 1e3 + span.duration[1] / 1e6
        const service = span.attributes.service && !span.name.startsWith(`${span.attributes.service} `) ? `${span.attributes.service} ` : ''
        const line = `${`${indent}${service}${span.name}`.padEnd(72)} +${(at(span) - start).toFixed(0)} ms  ${took.toFixed(1)} ms`
        return [line, ...under(span.spanContext().spanId, `${indent}  `)]
      })
  return under(undefined, '').join('\n')
}

it('one payment is one trace, from the block to the merchant`s server; and a request is one with what it caused', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  await pay(world.chain, order)
  await system.idle()
  expect(world.receiver.received).toHaveLength(1)
  expect(world.receiver.received[0]?.headers).not.toHaveProperty('traceparent')

  const traceOf = (name: string) => spans.find(span => span.name === name)?.spanContext().traceId ?? ''
  const payment = tree(traceOf('webhook-dispatcher on order.paid'))
  const request = tree(traceOf('POST /api/v1/merchants'))
  if (process.env.PONTE_PRINT_TRACE) console.log(`${request}\n\n${payment}`)
  const names = (text: string) => text.split('\n').map(line => line.replace(/ +\+\d+ ms .*$/, ''))
  expect(names(payment)).toEqual(
    expect.arrayContaining([
      'payment.confirmed',
      '  orders on payment.confirmed',
      '    order.paid',
      '      webhook-dispatcher on order.paid',
      '        webhook-dispatcher sends order.paid',
    ]),
  )
  expect(names(request)).toEqual(
    expect.arrayContaining(['api-gateway POST /api/v1/merchants', '  merchant.updated', '    orders on merchant.updated']),
  )
  const ordering = names(tree(spans.find(span => span.name === 'order.created')?.spanContext().traceId ?? ''))
  expect(ordering.slice(0, 2)).toEqual(['api-gateway POST /api/v1/orders', '  orders POST /api/v1/orders'])
}, 60_000)

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
  expect([...named].filter(name => !exposed.has(name))).toEqual([])
})
