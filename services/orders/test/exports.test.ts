import { type CreateExport, type EntryBody, EXPORTS_KEPT_MAX, EXPORTS_OPEN_MAX, type ExportBody } from '@ponte/contracts'
import { type Database, openDatabase, uuidv7, uuidv7At } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import request from 'supertest'
import { ordersMigrations } from '../src'
import { makeExport } from '../src/export/export-job'
import { type LedgerExport, openExport } from '../src/ledger/export'
import { openStore, type Store } from '../src/store'
import { listener } from './listener'
import { asMerchant, startOrders } from './setup'

describe('asked for by a merchant', () => {
  let system: Awaited<ReturnType<typeof startOrders>>
  let chain: ReturnType<typeof listener>
  beforeAll(async () => {
    system = await startOrders()
    chain = listener(system.bus)
  })
  afterAll(() => system.stop())

  const paid = async (merchant: string) => {
    const { body } = await request(system.url).post('/api/v1/orders').set(asMerchant(merchant)).send({ brl_amount: '542.00' })
    await chain.report('confirmed', chain.payment(body))
    return body
  }
  const post = (merchant: string, body: object, key?: string) =>
    request(system.url)
      .post('/api/v1/exports')
      .set({ ...asMerchant(merchant), ...(key ? { 'Idempotency-Key': key } : {}) })
      .send(body)
  const get = (merchant: string, path: string) => request(system.url).get(path).set(asMerchant(merchant)).buffer(true)
  const made = async (merchant: string, body: object): Promise<ExportBody> => {
    const { body: asked, status } = await post(merchant, body)
    expect([status, asked.status, asked.file_url]).toEqual([201, 'waiting', null])
    await system.orders.idle()
    return (await get(merchant, `/api/v1/exports/${asked.id}`)).body
  }

  test('a file has what was booked when it was asked for, and is what the list and the CSV of now say', async () => {
    const merchant = uuidv7()
    await paid(merchant)
    const { body: list } = await get(merchant, '/api/v1/entries')
    const { text: csv } = await get(merchant, '/api/v1/entries.csv?form=brazilian')
    const lines = await made(merchant, { format: 'jsonl' })
    const table = await made(merchant, { format: 'csv', form: 'brazilian' })
    await paid(merchant)
    expect(lines).toMatchObject({
      status: 'ready',
      rows: 3,
      rows_total: 3,
      through: 3,
      file_url: expect.stringMatching(/\/exports\/.*\/file$/),
    })
    const file = await get(merchant, `/api/v1/exports/${lines.id}/file`)
    expect(file.headers).toMatchObject({
      ...{ 'content-type': 'application/x-ndjson; charset=utf-8', 'content-disposition': 'attachment; filename="entries.jsonl"' },
      'content-length': String(lines.size),
    })
    const rows: EntryBody[] = Buffer.from(file.body.length ? file.body : file.text)
      .toString()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(rows).toEqual(list.data)
    expect((await get(merchant, `/api/v1/exports/${table.id}/file`)).text).toBe(csv)
  })

  test('filters are those of the list, and a file of nothing is one all the same', async () => {
    const merchant = uuidv7()
    await paid(merchant)
    const at = new Date(Date.now() - 3_600_000).toISOString()
    expect(await made(merchant, { format: 'jsonl', kind: 'fee', at_gte: at })).toMatchObject({
      status: 'ready',
      rows: 1,
      kind: 'fee',
      at_gte: at,
    })
    for (const format of ['csv', 'xlsx', 'jsonl', 'ofx']) {
      const empty = await made(merchant, { format, at_lt: at })
      expect(empty).toMatchObject({ status: 'ready', rows: 0, rows_total: 0 })
      expect((await get(merchant, `/api/v1/exports/${empty.id}/file`)).status).toBe(200)
    }
  })

  test('another merchant finds nothing of it', async () => {
    const [merchant, stranger] = [uuidv7(), uuidv7()]
    await paid(merchant)
    const { id } = await made(merchant, { format: 'csv' })
    for (const path of [`/api/v1/exports/${id}`, `/api/v1/exports/${id}/file`]) expect((await get(stranger, path)).status).toBe(404)
    expect((await get(stranger, '/api/v1/exports')).body.data).toEqual([])
    expect((await get(merchant, '/api/v1/exports')).body.data).toMatchObject([{ id, status: 'ready' }])
  })

  test('the same key is the same file', async () => {
    const merchant = uuidv7()
    const [first, second] = [await post(merchant, { format: 'ofx' }, 'k'), await post(merchant, { format: 'ofx' }, 'k')]
    expect(second.body).toEqual(first.body)
    expect((await get(merchant, '/api/v1/exports')).body.data).toHaveLength(1)
  })

  test('the newest are kept', async () => {
    const merchant = uuidv7()
    const ids: string[] = []
    for (let count = 0; count < EXPORTS_KEPT_MAX + 2; count++) ids.unshift((await made(merchant, { format: 'jsonl' })).id)
    const { body } = await get(merchant, '/api/v1/exports')
    expect(body.data.map(({ id }: ExportBody) => id)).toEqual(ids.slice(0, EXPORTS_KEPT_MAX))
    expect((await get(merchant, `/api/v1/exports/${ids.at(-1)}/file`)).status).toBe(404)
  })
})

describe('made by replicas', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>
  const pools: Database[] = []
  let [first, second]: Store[] = []
  const running = new AbortController().signal
  const now = () => new Date()

  beforeAll(async () => {
    database = await testDatabase(ordersMigrations)
    const replica = () => {
      const pool = openDatabase({ url: database.url, poolSize: 3 })
      pools.push(pool)
      return openStore(pool, { now, latestChainTime: now, committed: () => undefined })
    }
    ;[first, second] = [replica(), replica()]
  })
  afterAll(async () => {
    for (const pool of pools) await pool.stop?.()
    await database.drop()
  })
  beforeEach(() => pools[0]?.query('DELETE FROM exports'))

  const [one, two] = [() => first as Store, () => second as Store]
  const sql = (text: string, values: readonly unknown[] = []) => (pools[0] as Database).query(text, [...values])
  const book = (merchant: string, entries: number) =>
    sql(
      `INSERT INTO entries (merchant_id, sequence, kind, units, at, chain_id, tx_hash, log_index, block_number, block_time, address, booked_at)
       SELECT $1, n, 'settled', 1000000, '2026-11-01T03:00:00Z'::timestamptz + n * interval '1 second', 31337, '0x' || md5(n::text), 0, n, now(), '0xAA', now()
       FROM generate_series((SELECT coalesce(max(sequence), 0) + 1 FROM entries WHERE merchant_id = $1), (SELECT coalesce(max(sequence), 0) + $2 FROM entries WHERE merchant_id = $1)) AS n`,
      [merchant, entries],
    )
  const ask = async (merchant: string, through: number, body: CreateExport = { format: 'jsonl', form: 'international' }) => {
    const asked = openExport({ id: uuidv7At(now()), merchantId: merchant, through, requestedBy: null }, body, now())
    expect(await one().exports.insert(asked, [])).toBe(true)
    return asked
  }
  const stateOf = async ({ merchantId, id }: LedgerExport) => one().exports.find(merchantId, id, now())
  const partsOf = async (asked: LedgerExport) => {
    const found = await stateOf(asked)
    const parts: Buffer[] = []
    if (found) for await (const part of one().exports.parts(found)) parts.push(part)
    return parts
  }
  const lapse = () => sql("UPDATE exports SET leased_until = now() - interval '1 second'")

  test('a replica that dies in the middle is followed by another one, and the file has every entry once', async () => {
    const merchant = uuidv7()
    await book(merchant, 9_000)
    const asked = await ask(merchant, 9_000)
    let parts = 0
    const dying = {
      ...one(),
      exports: {
        ...one().exports,
        append: async (...part: Parameters<Store['exports']['append']>) => {
          if (++parts === 2) throw new Error('killed')
          await one().exports.append(...part)
        },
      },
    }
    await expect(makeExport(dying, now, running)).rejects.toThrow('killed')
    expect(await stateOf(asked)).toMatchObject({ status: 'running', rowsTotal: 9_000 })
    // Its lease stands.
    expect(await makeExport(two(), now, running)).toBe(false)
    await lapse()
    expect(await makeExport(two(), now, running)).toBe(true)
    const found = await stateOf(asked)
    expect(found).toMatchObject({ status: 'ready', rows: 9_000, attempts: 2 })
    const { gunzipSync } = await import('node:zlib')
    const text = Buffer.concat((await partsOf(asked)).map(part => gunzipSync(part))).toString()
    expect(text).toHaveLength(found?.size ?? 0)
    expect(
      text
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).sequence),
    ).toEqual(Array.from({ length: 9_000 }, (_, index) => index + 1))
    // The parts of the first one are not in it, and go.
    await one().exports.forget(now())
    const { rows } = await sql('SELECT DISTINCT lease FROM export_chunks')
    expect(rows).toEqual([{ lease: found?.lease }])
  })

  test('a replica that was only slow writes nothing more once another one has its file', async () => {
    const merchant = uuidv7()
    await book(merchant, 10)
    const asked = await ask(merchant, 10)
    const slow = {
      ...one(),
      exports: {
        ...one().exports,
        append: async (...part: Parameters<Store['exports']['append']>) => {
          await lapse()
          expect(await makeExport(two(), now, running)).toBe(true)
          await one().exports.append(...part)
        },
      },
    }
    await expect(makeExport(slow, now, running)).rejects.toThrow('written by another replica')
    expect(await stateOf(asked)).toMatchObject({ status: 'ready', rows: 10 })
    expect(await partsOf(asked)).toHaveLength(1)
  })

  test('of two at once each takes a file of its own', async () => {
    const merchant = uuidv7()
    await book(merchant, 1)
    const asked = [await ask(merchant, 1), await ask(merchant, 1)]
    await Promise.all([makeExport(one(), now, running), makeExport(two(), now, running)])
    expect((await Promise.all(asked.map(stateOf))).map(state => [state?.status, state?.attempts])).toEqual([
      ['ready', 1],
      ['ready', 1],
    ])
  })

  test('entries that come while it is written are not in it, in order of time neither', async () => {
    const merchant = uuidv7()
    await book(merchant, 5)
    const range = { format: 'jsonl', form: 'international', at_gte: '2026-01-01T00:00:00.000Z' } as const
    const asked = [await ask(merchant, 5), await ask(merchant, 5, range)]
    await book(merchant, 5)
    for (const _ of asked) await makeExport(one(), now, running)
    expect((await Promise.all(asked.map(stateOf))).map(state => state?.rows)).toEqual([5, 5])
  })

  test('a process that stops gives it back at once, and that is no failed attempt; what fails each time is given up', async () => {
    const merchant = uuidv7()
    await book(merchant, 1)
    const asked = await ask(merchant, 1)
    const stopping = new AbortController()
    stopping.abort()
    await makeExport(one(), now, stopping.signal)
    expect(await stateOf(asked)).toMatchObject({ status: 'waiting', attempts: 0 })
    const failing = { ...one(), ledger: { ...one().ledger, count: () => Promise.reject(new Error('no')) } }
    for (let attempt = 0; attempt < 5; attempt++) {
      await expect(makeExport(failing, now, running)).rejects.toThrow('no')
      await lapse()
    }
    expect(await makeExport(one(), now, running)).toBe(false)
    expect(await stateOf(asked)).toMatchObject({ status: 'failed', failure: 'not_finished' })
  })

  test('more than fits is refused and not begun', async () => {
    const merchant = uuidv7()
    const asked = await ask(merchant, 1)
    const full = { ...one(), ledger: { ...one().ledger, count: async (_: string, __: object, max: number) => max } }
    await makeExport(full, now, running)
    expect(await stateOf(asked)).toMatchObject({ status: 'failed', failure: 'too_many_rows', rows: 0 })
  })

  test('a merchant has so many under way and no more, however many are asked for at once', async () => {
    const merchant = uuidv7()
    const body = { format: 'csv', form: 'international' } as const
    const insert = (store: Store) =>
      store.exports.insert(openExport({ id: uuidv7(), merchantId: merchant, through: 0, requestedBy: null }, body, now()), [])
    const taken = await Promise.all([...Array(6)].map((_, index) => insert(index % 2 ? one() : two())))
    expect(taken.filter(Boolean)).toHaveLength(EXPORTS_OPEN_MAX)
  })

  test('what has expired is not found, and goes with its parts', async () => {
    const merchant = uuidv7()
    await book(merchant, 1)
    const asked = await ask(merchant, 1)
    await makeExport(one(), now, running)
    const later = new Date(asked.expiresAt.getTime() + 1)
    expect(await one().exports.find(merchant, asked.id, later)).toBeNull()
    await one().exports.forget(new Date(asked.expiresAt.getTime() - 1))
    expect((await sql('SELECT FROM export_chunks')).rowCount).toBe(1)
    await one().exports.forget(later)
    expect((await sql('SELECT FROM export_chunks')).rowCount).toBe(0)
  })
})
