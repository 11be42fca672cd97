import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-base'
import { caller, type NewEvent } from '@ponte/contracts'
import { Router } from 'express'
import {
  addLogFields,
  consumer,
  createApp,
  createLogger,
  createMetrics,
  currentTraceparent,
  every,
  httpServer,
  logFields,
  type Message,
  memoryBus,
  openDatabase,
  opsServer,
  outboxRows,
  type Part,
  RetryableError,
  requireCaller,
  service,
  signCaller,
  silentLogger,
  startTracing,
  traceHeaders,
  until,
  uuidv7,
  withLogFields,
  withSpan,
} from '../../src'
import { testDatabase } from '../../src/testing'

const ID = uuidv7()
const changed = { type: 'order.changed', data: { merchant_id: ID, order_id: ID } } as const
const messageOf = (event: NewEvent): Message => {
  const [message] = outboxRows([event], new Date())
  if (!message) throw new Error('There is no outbox row.')
  return message
}

describe('without tracing', () => {
  it('states nothing about a trace and runs the work all the same', async () => {
    expect(await withSpan('work', {}, async () => [currentTraceparent(), traceHeaders()])).toEqual([null, {}])
    expect(JSON.parse(messageOf(changed).body)).toHaveProperty('trace', null)
  })
})

describe('one thing followed through all services', () => {
  const exporter = new InMemorySpanExporter()
  let tracing: Part
  beforeAll(async () => {
    tracing = await startTracing({ service: 'shoes', exporter })
  })
  beforeEach(() => exporter.reset())
  afterAll(() => tracing.stop?.())
  const spans = () => exporter.getFinishedSpans()
  const nameOf = (id: string | undefined) => spans().find(span => span.spanContext().spanId === id)?.name

  it('goes from an HTTP request into the event it commits, and over the bus into the reaction', async () => {
    const bus = memoryBus({ topology: { reader: ['order.changed'] }, logger: silentLogger })
    const seen: unknown[] = []
    const reader = consumer(bus, 'reader', {
      'order.changed': async event => {
        await new Promise(resolve => setImmediate(resolve))
        seen.push(event.trace, logFields())
      },
    })
    let sent: Message | undefined
    const routes = Router().post('/pairs/:id', (_req, res) => {
      sent = messageOf(changed)
      res.status(201).json({})
    })
    const http = httpServer('http', createApp({ routes, logger: silentLogger }), { host: '127.0.0.1', port: 0 })
    const running = service('it', [reader, http])
    await running.start()
    const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const answer = await fetch(`http://127.0.0.1:${http.port()}/pairs/7?secret=1`, { method: 'POST', headers: { traceparent: parent } })
    await answer.text()
    if (sent) await bus.publish(sent)
    await running.stop()

    const names = spans().map(span => span.name)
    expect(names.sort()).toEqual(['POST /pairs/:id', 'order.changed', 'reader on order.changed'])
    const byName = (name: string) => spans().find(span => span.name === name)
    expect(new Set(spans().map(span => span.spanContext().traceId))).toEqual(new Set(['0af7651916cd43dd8448eb211c80319c']))
    expect(byName('POST /pairs/:id')?.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
    expect(nameOf(byName('order.changed')?.parentSpanContext?.spanId)).toBe('POST /pairs/:id')
    expect(nameOf(byName('reader on order.changed')?.parentSpanContext?.spanId)).toBe('order.changed')
    expect(byName('POST /pairs/:id')?.attributes).toMatchObject({ 'http.route': '/pairs/:id', 'http.response.status_code': 201 })
    expect(JSON.stringify(spans().map(span => span.attributes))).not.toContain('secret')
    const about = { event_id: sent?.id, event_type: 'order.changed', merchant_id: ID, order_id: ID }
    expect(seen).toEqual([
      expect.stringContaining('0af7651916cd43dd8448eb211c80319c'),
      { ...about, trace_id: '0af7651916cd43dd8448eb211c80319c' },
    ])
  })

  it('gives an event that nothing caused a trace of its own', () => {
    const [first, second] = outboxRows([changed, changed], new Date()).map(({ body }) => JSON.parse(body).trace)
    expect(first).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    expect(second).not.toBe(first)
  })

  it('starts anew when the traceparent is malformed', async () => {
    for (const parent of ['nonsense', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, `00-${'a'.repeat(32)}-${'0'.repeat(16)}-01`, null]) {
      await withSpan('work', { parent }, async () => undefined)
    }
    expect(spans().map(span => span.parentSpanContext)).toEqual([undefined, undefined, undefined, undefined])
  })

  it('marks a failure without a secret in it, and passes it on', async () => {
    const work = withSpan('work', {}, async () => Promise.reject(new Error('connect postgres://user:pass@db failed')))
    await expect(work).rejects.toThrow('failed')
    expect(spans()[0]?.status).toEqual({ code: 2, message: 'connect postgres://[redacted]@db failed' })
  })

  describe('what a log line belongs to', () => {
    const lines: string[] = []
    let write: jest.SpyInstance
    beforeEach(() => {
      lines.length = 0
      // Where winston's console transport writes: what the console of this test writes to.
      const out: { write(line: string): boolean } = Reflect.get(console, '_stdout') ?? process.stdout
      write = jest.spyOn(out, 'write').mockImplementation(line => lines.push(String(line)) > 0)
    })
    afterEach(() => write.mockRestore())
    const logger = createLogger({ service: 'shoes', level: 'debug' })
    const logged = (message: string) => lines.map(line => JSON.parse(line)).find(line => line.message === message)
    const traceId = expect.stringMatching(/^[0-9a-f]{32}$/)
    const secret = 'a-secret-of-32-characters-or-more'

    it('is its request, its trace, who asks and what for; no credential is among it', async () => {
      const loop = every('stocktaking', 60_000, async () => logger.info('counted'), logger)
      const routes = Router()
      routes.use(requireCaller({ secrets: [secret], audience: 'shoes', schema: caller }))
      routes.post('/api/v1/orders/:id/cancel', async (req, res) => {
        await new Promise(resolve => setImmediate(resolve))
        addLogFields({ pair_id: 'p1' })
        logger.info('tied', { headers: req.headers })
        loop.wake()
        res.json({})
      })
      const http = httpServer('http', createApp({ routes, logger }), { host: '127.0.0.1', port: 0 })
      await http.start?.()
      await loop.start?.()
      await until(() => logged('counted'), 'the first turn did not come')
      lines.length = 0
      const token = signCaller(
        { kind: 'merchant', terms: { merchant_id: ID, version: 1, display_name: 'x', payout_address: null } },
        { secrets: [secret], audience: 'shoes' },
      )
      await fetch(`http://127.0.0.1:${http.port()}/api/v1/orders/${ID}/cancel`, {
        method: 'POST',
        headers: { 'x-request-id': 'request-1', authorization: `Bearer ${token}` },
      }).then(answer => answer.text())
      await until(() => logged('counted') && logged('answered'), 'the loop did not turn')
      await loop.stop?.()
      await http.stop?.()
      const about = { service: 'shoes', request_id: 'request-1', merchant_id: ID, order_id: ID }
      expect(logged('tied')).toMatchObject({ ...about, pair_id: 'p1', trace_id: traceId })
      expect(logged('answered')).toMatchObject({ ...about, route: '/api/v1/orders/:id/cancel', status: 200 })
      expect(lines.join()).not.toContain(token)
      // Work that a request causes goes on for all who wait.
      expect(Object.keys(logged('counted')).sort()).toEqual(['level', 'message', 'service', 'timestamp'])
    })

    it('is its event, the event`s trace and whom it is about, for what the bus logs of a failure too', async () => {
      const dead: unknown[] = []
      const bus = memoryBus({ topology: { reader: ['order.changed'] }, logger, onDeadLetter: (_, message) => dead.push(message) })
      const reader = consumer(bus, 'reader', { 'order.changed': () => Promise.reject(new Error(`no room for sk_live_${'ab'.repeat(32)}`)) })
      await reader.start?.()
      const message = messageOf(changed)
      // Published inside a request: in one process the reader would inherit its fields.
      await withLogFields({ request_id: 'request-2' }, () => bus.publish(message))
      await reader.stop?.()
      expect(dead).toHaveLength(1)
      const about = { event_id: message.id, event_type: 'order.changed', merchant_id: ID, order_id: ID }
      const trace_id = JSON.parse(message.body).trace.split('-')[1]
      for (const text of ['messages will be handled again', 'a message is parked in the dead letters']) {
        expect(logged(text)).toMatchObject({ ...about, trace_id })
        expect(logged(text)).not.toHaveProperty('request_id')
      }
      expect(lines.join()).not.toContain('sk_live_ab')
    })
  })
})

describe('the kit`s own metrics', () => {
  it('are those of the parts, by route and not by id, without any word from the service', async () => {
    const home = await testDatabase()
    const database = openDatabase({ url: home.url, poolSize: 4 })
    const metrics = createMetrics('shoes')
    const bus = memoryBus({ topology: { reader: ['order.changed'] }, logger: silentLogger })
    let tries = 0
    const reader = consumer(bus, 'reader', {
      'order.changed': async () => {
        if (++tries < 2) throw new RetryableError('not yet')
      },
    })
    const pairs = Router().get('/api/v1/pairs/:id', (req, res) => {
      if (req.params.id === 'bad-1') throw new Error('a fault')
      res.json({})
    })
    const http = httpServer('http', createApp({ routes: pairs, logger: silentLogger }), {
      host: '127.0.0.1',
      port: 0,
    })
    const parts: Part[] = []
    const ops = opsServer({ host: '127.0.0.1', port: 0, metrics, parts: () => parts, logger: silentLogger })
    parts.push(database, reader, ops, http)
    const running = service('it', parts)
    await running.start()
    for (const path of ['/api/v1/pairs/1', '/api/v1/pairs/2', '/api/v1/pairs/bad-1', '/nothing/018f0e'])
      await fetch(`http://127.0.0.1:${http.port()}${path}`).then(answer => answer.text())
    await bus.publish(messageOf(changed))
    const text = await fetch(`http://127.0.0.1:${ops.port()}/metrics`).then(answer => answer.text())
    await running.stop()
    await home.drop()
    const count = (labels: string) => `ponte_http_request_duration_seconds_count{service="shoes",${labels}}`
    for (const line of [
      `${count('method="GET",route="/api/v1/pairs/:id",status="200"')} 2`,
      `${count('method="GET",route="/api/v1/pairs/:id",status="500"')} 1`,
      `${count('method="GET",route="(none)",status="404"')} 1`,
      'ponte_events_handled_total{type="order.changed",outcome="retried",service="shoes"} 1',
      'ponte_events_handled_total{type="order.changed",outcome="done",service="shoes"} 1',
      'ponte_queue_waiting{service="shoes"} 0',
      'ponte_database_connections_max{service="shoes"} 4',
      'ponte_database_connections_used{service="shoes"} 0',
    ])
      expect(text).toContain(line)
    expect(text).not.toMatch(/route="[^"]*(healthz|metrics)/)
  })
})
