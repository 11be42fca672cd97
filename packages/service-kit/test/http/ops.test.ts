import request from 'supertest'
import { createMetrics, opsServer, type Part, SERIES_MAX, silentLogger } from '../../src'

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

  it('shows a bounded number of series of each metric, and the rest as one', async () => {
    const sold = metrics.counter('ponte_boxes_total', 'Boxes sold', ['size'])
    const held = metrics.gauge('ponte_boxes', 'Boxes held', ['size'])
    const packing = metrics.histogram('ponte_packing_seconds', 'Time to pack a box', ['size'], [1])
    for (let size = 0; size < SERIES_MAX + 3; size += 1) {
      sold.inc({ size })
      held.set({ size }, 1)
      packing.observe({ size }, 1)
    }
    const lines = (await get('/metrics')).text.split('\n')
    const series = (name: string) => lines.filter(line => line.startsWith(`${name}{`))
    expect(['ponte_boxes_total', 'ponte_boxes', 'ponte_packing_seconds_count'].map(name => series(name).length)).toEqual(
      Array(3).fill(SERIES_MAX + 1),
    )
    expect(series('ponte_boxes_total')).toContain('ponte_boxes_total{size="(other)",service="shoes"} 3')
    expect(series('ponte_packing_seconds_count')).toContain('ponte_packing_seconds_count{service="shoes",size="(other)"} 3')
    held.reset()
    held.set({ size: 2_000 }, 7)
    expect((await get('/metrics')).text).toContain('ponte_boxes{size="2000",service="shoes"} 7')
  })

  it('shows the others when one gauge cannot be read', async () => {
    metrics.observed('ponte_unreadable', 'Asks a database that is away', () => Promise.reject(new Error('away')))
    const answer = await get('/metrics')
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('ponte_pairs_total')
  })
})
