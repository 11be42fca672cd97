import { openDatabase, uuidv7 } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { chainListenerMigrations } from '../src'
import { openStore, type Store } from '../src/store'
import type { Difference } from '../src/store/differences'

const CHAIN = 31_337
const ROUTER = `0x${'01'.repeat(20)}`
const memoOf = (n: number) => n.toString(16).padStart(64, '0')
const differenceAt = (n: number): Difference => ({
  kind: 'changed',
  txHash: `0x${memoOf(n)}`,
  logIndex: 0,
  blockNumber: n,
  memo: memoOf(n),
  detail: 'amount',
})

describe('the store, each statement by itself', () => {
  let database: ReturnType<typeof openDatabase>
  let store: Store
  let drop: () => Promise<void>
  beforeEach(async () => {
    const own = await testDatabase(chainListenerMigrations)
    database = openDatabase({ url: own.url, poolSize: 2 })
    store = openStore(database, CHAIN, () => new Date())
    drop = own.drop
  })
  afterEach(async () => {
    await database.stop?.()
    await drop()
  })
  const insertOrder = (n: number, address: string | null = null) =>
    database.query(
      `INSERT INTO payables (chain_id, order_id, memo, merchant, router, address, expires_at, watch_from, asked)
       VALUES ($1, $2, $3, $4, $4, $5, now(), 0, 0)`,
      [CHAIN, uuidv7(), memoOf(n), ROUTER, address],
    )

  it('a difference and the doubt about its order are written together, once', async () => {
    for (const n of [1, 2]) await insertOrder(n)
    const states = async () =>
      (await database.query<{ doubted: boolean; asked: number }>('SELECT doubted, asked FROM payables ORDER BY memo')).rows.map(row => [
        row.doubted,
        row.asked,
      ])
    await store.differences.save(new Map([['one', differenceAt(1)]]))
    expect(await states()).toEqual([
      [true, 1],
      [false, 0],
    ])
    await store.differences.save(
      new Map([
        ['one', differenceAt(1)],
        ['two', differenceAt(2)],
      ]),
    )
    expect(await states()).toEqual([
      [true, 1],
      [true, 1],
    ])
  })

  describe('what orders has of the confirmed blocks', () => {
    const begin = async () => {
      await store.generation.takeLease(0)
      await database.query('UPDATE chain_cursor SET scanned_number = 100, confirmed_number = 100, announced_number = 100, since = 0')
      const generation = (await store.position.find())?.generation ?? ''
      const { lease } = await store.generation.leases(generation)
      return (watermark: number | null, eventId = uuidv7()) =>
        store.generation.follow({ generation, lease, version: 0, watermark }, eventId)
    }
    const republishFrom = async () => (await store.position.owed()).republishFrom
    const confirm = (block: number) => database.query('UPDATE chain_cursor SET confirmed_number = $1', [block])

    it('a backlog that shrinks is no loss, one that stands still is', async () => {
      const echo = await begin()
      for (const [watermark, confirmed] of [
        [10, 200],
        [50, 300],
        [90, 400],
      ] as const) {
        await echo(watermark)
        await confirm(confirmed)
        expect(await republishFrom()).toBeNull()
      }
      await echo(90)
      expect(await republishFrom()).toBe(91)
    })

    it('one report that comes twice is one that stands still only where the inbox does not know it', async () => {
      const echo = await begin()
      const id = uuidv7()
      await echo(90, id)
      await expect(echo(90, id)).rejects.toMatchObject({ constraint: 'inbox_pkey' })
      expect(await republishFrom()).toBeNull()
    })

    it('what orders had and has no more is a loss, and a new generation begins without any', async () => {
      const echo = await begin()
      await echo(100)
      await echo(40)
      expect(await republishFrom()).toBe(41)
      const { generation } = (await store.position.find()) ?? {}
      await store.generation.overtake(`${'f'.repeat(8)}-ffff-7fff-bfff-ffffffff0000`)
      const next = await store.position.find()
      expect(next?.generation).not.toBe(generation)
      await database.query('UPDATE chain_cursor SET confirmed_number = 300')
      const { lease } = await store.generation.leases(generation ?? '')
      await database.query('UPDATE leases SET generation = $1', [next?.generation])
      await store.generation.follow({ generation: next?.generation ?? '', lease, version: 0, watermark: null }, uuidv7())
      expect(await republishFrom()).toBeNull()
    })
  })

  describe('a generation that begins while the relayer publishes', () => {
    const beginDuring = async (published: number, publishes: string) => {
      await store.generation.takeLease(0)
      await insertOrder(1)
      await database.query("UPDATE payables SET blocked_reason = 'token_paused', blocked_revision = 1, blocked_published = $1", [published])
      const publishing = database.query(`DO $$ BEGIN ${publishes} END $$`)
      await new Promise(resolve => setTimeout(resolve, 300))
      const begun = await store.generation.overtake(`${'f'.repeat(8)}-ffff-7fff-bfff-ffffffff0000`)
      await publishing
      const { rows } = await database.query<{ published: number }>('SELECT blocked_published AS published FROM payables')
      return { begun, published: rows[0]?.published }
    }
    const ROW = 'UPDATE payables SET blocked_published = 1;'
    const LEASE = 'UPDATE chain_cursor SET epoch = epoch;'

    it('waits for its rows, and is not waited for', async () => {
      expect(await beginDuring(1, `${ROW} PERFORM pg_sleep(1); ${LEASE}`)).toEqual({ begun: true, published: 0 })
    })
    it('has what it published at that moment published again', async () => {
      expect(await beginDuring(0, `${ROW} ${LEASE} PERFORM pg_sleep(1);`)).toEqual({ begun: true, published: 0 })
    })
  })

  it('going back covers only what the scan reads for already: an address that comes meanwhile is followed from the next turn on', async () => {
    const epoch = await store.generation.takeLease(0)
    await database.query('UPDATE chain_cursor SET scanned_number = 10, confirmed_number = 1, announced_number = 1, since = 0')
    await database.query(`INSERT INTO coverage (chain_id, subject, blocks) VALUES ($1, 'new', '{(,5)}'), ($1, 'read', '{(,3),[6,)}')`, [
      CHAIN,
    ])
    const cursor = await store.position.find()
    if (!cursor) throw new Error('there is no cursor')
    const scanned = { number: 2, hash: `0x${memoOf(2)}`, time: new Date() }
    const step = {
      cursor: { ...cursor, version: cursor.version + 1, scanned },
      head: 2,
      forgetAbove: 2,
      blocks: [],
      payments: [],
      events: [],
    }
    await store.commit(epoch, step)
    const { rows } = await database.query<{ blocks: string }>('SELECT blocks::text FROM coverage ORDER BY subject')
    expect(rows.map(({ blocks }) => blocks)).toEqual(['{(,5)}', '{(,)}'])
    expect((await store.position.owed()).isUnfollowed).toBe(true)
  })
})
