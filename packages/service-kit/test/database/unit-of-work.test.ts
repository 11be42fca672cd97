import {
  type Database,
  insertRows,
  isStale,
  isUniqueViolation,
  openDatabase,
  outboxRows,
  type Statement,
  type StoredAnswer,
  updateVersioned,
  uuidv7,
} from '../../src'
import { testDatabase } from '../../src/testing'

const SCHEMA = `
  CREATE TABLE outbox (id uuid PRIMARY KEY, type text NOT NULL, body text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
    claimed_until timestamptz, sent_at timestamptz, merchant_id uuid);
  CREATE TABLE inbox (event_id uuid PRIMARY KEY, received_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE idempotency_keys (merchant_id uuid NOT NULL, route text NOT NULL, key text NOT NULL, body_hash text NOT NULL,
    status integer NOT NULL, body text, created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (merchant_id, route, key));
  CREATE TABLE shoes (id uuid PRIMARY KEY, version int NOT NULL, size bigint, sold_at timestamptz, laces jsonb, seal bytea);
  CREATE TABLE shelves (shoe_id uuid NOT NULL, shelf text NOT NULL)`

const ID = '01890a5d-ac96-774b-bcce-b302099a8057'
const INSERT: Statement = {
  name: 'shoes-insert',
  text: `WITH shelved AS (INSERT INTO shelves (shoe_id, shelf) SELECT shoe_id, $shelf FROM json_populate_recordset(NULL::shelves, $places))
    ${insertRows('shoes', ['id', 'version', 'size', 'sold_at', 'laces', 'seal'])}`,
}
const UPDATE: Statement = { name: 'shoes-update', text: updateVersioned('shoes', ['size']) }

describe('a unit of work', () => {
  let home: Awaited<ReturnType<typeof testDatabase>>
  let database: Database
  beforeAll(async () => {
    home = await testDatabase()
    database = openDatabase({ url: home.url, poolSize: 1 })
    await database.query(SCHEMA)
  })
  afterAll(async () => {
    await database.stop?.()
    await home.drop()
  })
  const failure = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined).catch((error: unknown) => error)
  const events = () => outboxRows([{ type: 'order.changed', data: { merchant_id: ID, order_id: ID } }], new Date(0))
  const answer = (key: string, body = '{"a":"one\\ntwo"}'): StoredAnswer => ({
    ...{ merchantId: ID, route: 'POST /shoes', key, bodyHash: 'hash' },
    ...{ status: 201, body },
  })
  const counts = async () => {
    const { rows } = await database.query(`SELECT (SELECT count(*)::int FROM inbox) AS inbox, (SELECT count(*)::int FROM outbox) AS outbox,
      (SELECT count(*)::int FROM idempotency_keys) AS answers, (SELECT count(*)::int FROM shoes) AS shoes`)
    return rows[0]
  }
  beforeEach(() => database.query('TRUNCATE inbox, outbox, idempotency_keys, shoes, shelves'))

  const shoe = (id = uuidv7()) => ({
    ...{ id, version: 1, size: 9_007_199_254_740_993n, sold_at: new Date(86_400_000), laces: { blue: ['"', '\n', '\\'] } },
    seal: Buffer.from('beef', 'hex'),
  })

  it('writes records by column name, each value as its column has it, with inbox, outbox and answers', async () => {
    const row = shoe()
    const [event, cause] = [events(), uuidv7()]
    await database.commit({
      inbox: [cause],
      events: event,
      answers: [answer('one')],
      write: INSERT,
      rows: { shoes: [row], places: [{ shoe_id: row.id }] },
      values: { shelf: "Bobby's" },
    })
    expect((await database.query('SELECT * FROM shoes')).rows).toEqual([{ ...row, size: String(row.size) }])
    expect((await database.query('SELECT shelf FROM shelves')).rows).toEqual([{ shelf: "Bobby's" }])
    expect((await database.query('SELECT id, type, body, merchant_id AS "merchantId" FROM outbox')).rows).toEqual(event)
    expect((await database.query('SELECT event_id FROM inbox')).rows).toEqual([{ event_id: cause }])
    expect((await database.query('SELECT body FROM idempotency_keys')).rows).toEqual([{ body: answer('one').body }])
  })

  it('writes whatever it is given and nothing else: each part alone, several at once, none', async () => {
    await database.commit({})
    await database.commit({ inbox: [uuidv7(), uuidv7()] })
    await database.commit({ events: [...events(), ...events()] })
    await database.commit({ answers: [answer('b'), answer('a')] })
    await database.commit({ write: INSERT, rows: { shoes: [], places: [] }, values: { shelf: null } })
    await database.commit({ write: UPDATE, rows: { shoes: [] }, events: events() })
    expect(await counts()).toEqual({ inbox: 2, outbox: 3, answers: 2, shoes: 0 })
  })

  it.each(['inbox', 'answers', 'write'] as const)('writes nothing when its %s meets a row that is there', async part => {
    const row = shoe()
    const whole = () => ({ inbox: [uuidv7()], events: events(), answers: [answer(uuidv7())], write: INSERT, values: { shelf: 'top' } })
    const first = { ...whole(), rows: { shoes: [row], places: [] } }
    await database.commit(first)
    const second = { ...whole(), rows: { shoes: [part === 'write' ? row : shoe()], places: [] } }
    const error = await failure(database.commit({ ...second, ...(part === 'write' ? {} : { [part]: first[part] }) }))
    const key = { inbox: 'inbox_pkey', answers: 'idempotency_keys_pkey', write: 'shoes_pkey' }[part]
    expect([isUniqueViolation(error, key), await counts()]).toEqual([true, { inbox: 1, outbox: 1, answers: 1, shoes: 1 }])
  })

  it('refuses a version that moved on, whole', async () => {
    const [one, two] = [shoe(), shoe()]
    await database.commit({ write: INSERT, rows: { shoes: [one, two], places: [] }, values: { shelf: null } })
    const update = (rows: object[]) => database.commit({ write: UPDATE, rows: { shoes: rows }, events: events() })
    expect((await update([{ ...one, size: 40n }])).rowCount).toBe(1)
    const error = await failure(
      update([
        { ...one, size: 41n },
        { ...two, size: 41n },
      ]),
    )
    expect(isStale(error)).toBe(true)
    const { rows } = await database.query('SELECT size, version FROM shoes ORDER BY id')
    expect(rows).toEqual([
      { size: '40', version: 2 },
      { size: String(two.size), version: 1 },
    ])
    expect(await counts()).toMatchObject({ outbox: 1 })
  })

  it('is prepared once for each set of parts', async () => {
    for (let count = 0; count < 3; count += 1) await database.commit({ write: UPDATE, rows: { shoes: [] }, inbox: [uuidv7()] })
    const { rows } = await database.query("SELECT name FROM pg_prepared_statements WHERE name LIKE 'shoes-update/i%'")
    expect(rows).toEqual([{ name: 'shoes-update/i' }])
  })

  it('names the parameter that it was given nothing for', async () => {
    expect(await failure(database.commit({ write: UPDATE }))).toMatchObject({ message: 'shoes-update was given nothing for $shoes.' })
  })
})
