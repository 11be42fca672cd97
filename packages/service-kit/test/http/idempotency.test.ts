import { Router } from 'express'
import request from 'supertest'
import {
  type Answer,
  answerOnce,
  answerRetention,
  answersTo,
  createApp,
  type Database,
  keyedRequest,
  openDatabase,
  silentLogger,
  until,
} from '../../src'
import { testDatabase } from '../../src/testing'

const MERCHANT = '01890a5d-ac96-774b-bcce-b302099a8057'
const SCHEMA = `
  CREATE TABLE idempotency_keys (merchant_id uuid NOT NULL, route text NOT NULL, key text NOT NULL, body_hash text NOT NULL,
    status integer NOT NULL, body text, created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (merchant_id, route, key))`

describe('a keyed request', () => {
  let home: Awaited<ReturnType<typeof testDatabase>>
  let database: Database
  let done = 0
  let work = async (answers: (answer: Answer) => Promise<Answer>): Promise<Answer> => answers({ status: 201, body: `{"shoe":${++done}}` })
  const usual = work
  const router = Router().post(['/shoes', '/shoes/:id/lace'], async (req, res) => {
    const keyed = keyedRequest(req, MERCHANT)
    await answerOnce(database, keyed, res, () =>
      work(async answer => {
        await database.commit({ answers: answersTo(keyed, answer) })
        return answer
      }),
    )
  })
  const app = createApp({ routes: router, logger: silentLogger })
  const post = (body: string, key = 'key', path = '/shoes') =>
    request(app).post(path).set({ 'Idempotency-Key': key, 'Content-Type': 'application/json' }).send(body)

  beforeAll(async () => {
    home = await testDatabase()
    const url = new URL(home.url)
    url.searchParams.set('options', '-c lock_timeout=100ms')
    database = openDatabase({ url: url.href })
    await database.query(SCHEMA)
  })
  afterEach(async () => {
    work = usual
    await database.query('TRUNCATE idempotency_keys')
  })
  afterAll(async () => {
    await database.stop?.()
    await home.drop()
  })

  it('is done once: repeated at the same moment or later, it gets the first one`s answer, byte for byte', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('{}')))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(7)
    expect((await post('{}')).text).toBe(answers[0]?.text)
  })

  it('is the same whatever the order of keys in its JSON, at every depth, and not another value', async () => {
    const first = await post('{"a":1,"b":{"c":[{"d":1,"e":2}],"__proto__":3}}')
    const same = await post('{ "b":{"__proto__":3,"c":[{"e":2,"d":1}]}, "a":1.0 }')
    expect([same.status, same.text, same.headers['idempotency-replayed']]).toEqual([201, first.text, 'true'])
    for (const other of ['{"a":1,"b":{"c":[{"d":1,"e":2}],"__proto__":4}}', '{"a":1}', '{"a":"1"}']) {
      expect((await post(other)).body).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
    }
  })

  it('is the same whatever the case of an id in its path', async () => {
    const first = await post('{}', 'key', '/shoes/0AbC/lace')
    expect((await post('{}', 'key', '/shoes/0aBc/lace')).text).toBe(first.text)
    expect((await post('{}', 'key', '/shoes/0aBd/lace')).text).not.toBe(first.text)
  })

  it('is refused with 409 while the first one runs for longer than a lock is waited for', async () => {
    let finish: () => void = () => undefined
    const first = database.transaction(async sql => {
      await sql.query(
        `INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body) VALUES ($1, 'POST /shoes', 'slow', '', 201, '')`,
        [MERCHANT],
      )
      await new Promise<void>(resolve => {
        finish = resolve
      })
    })
    await until(
      async () =>
        (await database.query("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"))
          .rowCount === 1,
      'no',
    )
    const answer = await post('{}', 'slow')
    finish()
    await first
    expect([answer.body.code, answer.headers['retry-after']]).toEqual(['idempotency_in_progress', '2'])
  })

  it('whose work failed may be done again', async () => {
    work = async () => {
      throw new Error('away')
    }
    expect((await post('{}')).status).toBe(500)
    work = usual
    expect((await post('{}')).status).toBe(201)
  })

  it('has a key of 1 to 255 printable characters', async () => {
    for (const key of ['', 'x'.repeat(256), 'a\tb']) expect((await post('{}', key)).body).toMatchObject({ status: 400 })
  })

  it('is forgotten after seven days, part by part', async () => {
    await database.query(
      `INSERT INTO idempotency_keys SELECT '${MERCHANT}', 'route', i, 'hash', 201, '{}', now() - interval '8 days' FROM generate_series(1, 1001) AS i`,
    )
    await database.query(`INSERT INTO idempotency_keys SELECT '${MERCHANT}', 'route', 'new', 'hash', 201, '{}', now() - interval '6 days'`)
    const loop = answerRetention(database, silentLogger)
    await loop.start?.()
    await until(async () => (await database.query('SELECT 1 FROM idempotency_keys')).rowCount === 1, 'old answers are kept')
    await loop.stop?.()
    expect((await database.query('SELECT key FROM idempotency_keys')).rows).toEqual([{ key: 'new' }])
  })
})
