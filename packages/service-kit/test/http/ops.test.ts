import request from 'supertest'
import { createMetrics, opsServer, type Part, silentLogger } from '../../src'

describe('the ops port', () => {
  let parts: Part[] = []
  const metrics = createMetrics('shoes')
  const ops = opsServer({ host: '127.0.0.1', port: 0, metrics, parts: () => parts, logger: silentLogger })
  beforeAll(() => ops.start?.())
  afterAll(() => ops.stop?.())
  const get = (path: string) => request(`http://127.0.0.1:${ops.port()}`).get(path)

  it('is alive whatever its parts report', async () => {
    parts = [{ name: 'bus', ready: () => false }]
    expect((await get('/healthz')).status).toBe(200)
  })

  it('is ready when every part is, and otherwise names those that are not, one that throws included', async () => {
    parts = [{ name: 'quiet' }, { name: 'database', ready: async () => true }]
    const ready = await get('/readyz')
    expect([ready.status, ready.body]).toEqual([200, { status: 'ready', parts: { quiet: true, database: true } }])
    parts = [
      { name: 'database', ready: () => Promise.reject(new Error('down at 10.0.0.1')) },
      { name: 'bus', ready: () => false },
      { name: 'http', ready: () => true },
    ]
    const unready = await get('/readyz')
    expect([unready.status, unready.body]).toEqual([503, { status: 'not_ready', parts: { database: false, bus: false, http: true } }])
    expect(unready.text).not.toContain('10.0.0.1')
  })

  it('is not kept waiting by a part that does not answer', async () => {
    parts = [{ name: 'database', ready: () => new Promise(() => undefined) }]
    const answer = await get('/readyz')
    expect([answer.status, answer.body.parts]).toEqual([503, { database: false }])
  })

  it('shows the metrics of its service', async () => {
    metrics.counter('ponte_pairs_total', 'Pairs sold', ['size']).inc({ size: '42' })
    metrics.observed('ponte_shelf_age_seconds', 'Age of the oldest pair', async () => 12)
    const answer = await get('/metrics')
    expect(answer.headers['content-type']).toMatch(/^text\/plain/)
    expect(answer.text).toContain('ponte_pairs_total{size="42",service="shoes"} 1')
    expect(answer.text).toContain('ponte_shelf_age_seconds{service="shoes"} 12')
  })

  it('shows the others when one gauge cannot be read', async () => {
    metrics.observed('ponte_unreadable', 'Asks a database that is away', () => Promise.reject(new Error('away')))
    const answer = await get('/metrics')
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('ponte_pairs_total')
  })
})
