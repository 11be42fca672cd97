import { commitUnit, openDatabase, uuidv7At } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { chainListenerMigrations } from '../src'
import { ADD } from '../src/relay/store/add'
import { payoutStore } from '../src/relay/store/payouts'

const [NOW, HEAD, BLOCK_MS] = [new Date('2026-11-23T12:00:00Z'), 20_000_000, 12_000]
const DAY_MS = 86_400_000
const MARGIN = 128

let database: Awaited<ReturnType<typeof testDatabase>>
let sql: ReturnType<typeof openDatabase>
beforeAll(async () => {
  database = await testDatabase(chainListenerMigrations)
  sql = openDatabase({ url: database.url, poolSize: 1 })
  await sql.query(
    'INSERT INTO chain_cursor (chain_id, epoch, start_block, scanned_number, scanned_time, confirmed_number) VALUES (1, 1, 0, $1, $2, $1)',
    [HEAD, NOW],
  )
})
afterAll(async () => {
  await sql.stop?.()
  await database.drop()
})

async function readFrom(orderId: string, watch_from: number): Promise<number> {
  const address = `0x${orderId.replaceAll('-', '').padStart(40, '0')}`
  const row = { chain_id: 1, order_id: orderId, memo: address, merchant: address, router: address, address, expires_at: NOW, watch_from }
  const payables = [{ ...row, merchant_is_contract: false, merchant_id: null, asked_units: 1, cancelled_at: null }]
  await commitUnit(sql, { write: ADD, rows: { payables }, values: { block_ms: BLOCK_MS } })
  const { rows } = await sql.query<{ from: number }>('SELECT upper(blocks)::float8 AS from FROM coverage WHERE subject = $1', [address])
  return rows[0]?.from ?? Number.NaN
}

it('an order that knew no head is read from its age, four times over, and not from the first block', async () => {
  const days = await readFrom(uuidv7At(new Date(NOW.getTime() - 10 * DAY_MS)), 0)
  const inTenDays = (10 * DAY_MS) / BLOCK_MS
  expect(HEAD - days).toBeGreaterThan(inTenDays)
  expect(HEAD - days).toBeLessThan(5 * inTenDays)
  expect(HEAD - (await readFrom(uuidv7At(NOW), 0))).toBe(1_200)
  expect(HEAD - (await readFrom(uuidv7At(new Date(NOW.getTime() + DAY_MS)), 0))).toBe(1_200)
})

it('an order that names its block is read from there, and one whose id has no time from the first block', async () => {
  expect(await readFrom(uuidv7At(new Date(NOW.getTime() - 1)), 12_345)).toBe(12_345)
  expect(await readFrom('4e2f6f0c-1c7e-4b7b-9d43-0a5c1f0c2b11', 0)).toBe(0)
})

it('a payout address is read from the block that is named, or from the time since when it was one, and keeps what it had', async () => {
  const payouts = payoutStore(sql, 1)
  const readOf = async (address: string, since: Date, watch_from: number | null) => {
    await payouts.add([{ address, since: since.toISOString(), watch_from }], uuidv7At(NOW))
    const { rows } = await sql.query<{ from: number }>('SELECT upper(blocks)::float8 AS from FROM coverage WHERE subject = $1', [
      address.toLowerCase(),
    ])
    return rows[0]?.from
  }
  const [first, second, third] = ['A', 'B', 'C'].map(letter => `0x${letter.repeat(40)}`)
  expect(await readOf(first ?? '', NOW, 12_345)).toBe(12_345)
  expect(await readOf(first ?? '', NOW, 1)).toBe(12_345)
  expect(await readOf(second ?? '', NOW, HEAD)).toBe(HEAD - MARGIN)
  expect(await readOf(third ?? '', NOW, null)).toBe(HEAD - 1_200)
})
