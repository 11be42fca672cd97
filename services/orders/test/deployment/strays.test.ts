import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, migrate, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { ordersMigrations } from '../../src'

// A database of the release that booked sweeps without an order as fee and settled alone is carried over.

const CHANGED = '20261125100000_strays_indexes'
const MERCHANT = '01981f3c-0000-7000-8000-000000000001'
const PAYOUT = `0x${'dd'.repeat(20)}`
const before = mkdtempSync(join(tmpdir(), 'orders-strays-'))
let home: Awaited<ReturnType<typeof testDatabase>>
let database: Database

beforeAll(async () => {
  for (const name of readdirSync(ordersMigrations).filter(each => each < CHANGED))
    cpSync(join(ordersMigrations, name), join(before, name), { recursive: true })
  home = await testDatabase(before)
  database = openDatabase({ url: home.url, poolSize: 2 })
  await database.query("INSERT INTO payout_addresses VALUES ($1, 1, $2, '2026-11-01T00:00:00Z')", [MERCHANT, PAYOUT])
  await database.query(
    `INSERT INTO sweeps (id, status, chain_id, router_address, token_address, memo, merchant_address, deposit_address, gross_units, fee_units, tx_hash,
       block_number, block_time, log_index) VALUES ('s1', 'confirmed', 1, '0x03', '0x02', 'nobody', $1, '0x0d', 100000000, 1000000, '0xaa', 10, '2026-11-02T00:00:00Z', 0)`,
    [PAYOUT],
  )
})
afterAll(async () => {
  await database.stop?.()
  await home.drop()
  rmSync(before, { recursive: true })
})

const sums = async () => {
  const { rows } = await database.query<{ kind: string; units: string }>(
    'SELECT kind, sum(units) AS units FROM entries GROUP BY kind ORDER BY kind',
  )
  return Object.fromEntries(rows.map(({ kind, units }) => [kind, Number(units)]))
}

it('what came by a sweep of no order is booked, and fee and what settled once', async () => {
  expect(await sums()).toEqual({ fee: 1_000_000, settled: 99_000_000 })
  await migrate(home.url, ordersMigrations)
  expect(await sums()).toEqual({ fee: 1_000_000, settled: 99_000_000, unmatched: 100_000_000 })
  const { rows } = await database.query('SELECT book($1) AS booked', [['0xaa']])
  expect(rows).toEqual([{ booked: '0' }])
})
