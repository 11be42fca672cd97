import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, migrate, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { ordersMigrations } from '../../src'
import type { OrderHistory } from '../../src/order/body'
import { receivePayments } from '../../src/order/progress'
import { tallyOf } from '../../src/order/tally'
import { requiredUnits } from '../../src/order/verdict'
import { settlements } from '../../src/payment/settlement'
import { differencesOf } from '../../src/reconcile/compare'
import { openStore, type Store } from '../../src/store'

// A database of the state in which a sweep was the payment, with every amount the merchant's share, is carried over.

const CHANGED = '20261122090000_transfers_are_payments'
const at = (minute: number) => new Date(Date.UTC(2026, 10, 1, 12, minute)).toISOString()
const END = at(30)
const ADDRESS = '0x1111111111111111111111111111111111111111'
const PAYER = '0x9999999999999999999999999999999999999999'

let home: Awaited<ReturnType<typeof testDatabase>>
let database: Database
let store: Store
const before = mkdtempSync(join(tmpdir(), 'orders-migrations-'))

interface OldOrder {
  name: string
  status: string
  exception?: string
  received?: number
  published?: number
  paidAt?: string
  expiresAt?: string
  deposit?: boolean
}
interface OldPayment {
  id: string
  order: string
  status: string
  share: number
  block: number
  minute: number
  payer?: string
  replaces?: string[]
}

/** 100 USDC at 1 %: the merchant's share is 99. */
const ORDERS: OldOrder[] = [
  { name: 'pending', status: 'pending' },
  { name: 'router paid', status: 'paid', received: 99_000_000, paidAt: at(11) },
  { name: 'swept paid', status: 'paid', received: 99_000_000, paidAt: at(12) },
  { name: 'swept twice', status: 'paid', exception: 'overpaid', received: 148_500_000, paidAt: at(12) },
  { name: 'waits for its sweep', status: 'confirming' },
  { name: 'sweep detected', status: 'confirming' },
  { name: 'third party', status: 'paid', received: 99_000_000, paidAt: at(12) },
  { name: 'underpaid', status: 'underpaid', received: 49_500_001, published: 49_500_001 },
  { name: 'rounded', status: 'paid', exception: 'overpaid', received: 99_000_001, paidAt: at(12) },
  { name: 'duplicate', status: 'paid', exception: 'duplicate', received: 198_000_000, paidAt: at(12) },
  { name: 'late', status: 'expired', exception: 'paid_late', received: 99_000_000 },
  { name: 'short by a unit', status: 'expired', received: 98_999_999, published: 98_999_999 },
  { name: 'dust after cancel', status: 'cancelled', exception: 'paid_after_cancel', received: 1 },
  { name: 'stuck for days', status: 'pending', expiresAt: '2026-10-01T00:00:00.000Z', deposit: true },
]
const PAYMENTS: OldPayment[] = [
  { id: 'r1', order: 'router paid', status: 'confirmed', share: 99_000_000, block: 10, minute: 10 },
  { id: 't1', order: 'swept paid', status: 'detected', share: 99_000_000, block: 10, minute: 10 },
  { id: 's1', order: 'swept paid', status: 'confirmed', share: 99_000_000, block: 20, minute: 10, payer: ADDRESS, replaces: ['t1'] },
  { id: 't2', order: 'swept twice', status: 'detected', share: 99_000_000, block: 10, minute: 10 },
  { id: 's2', order: 'swept twice', status: 'confirmed', share: 99_000_000, block: 20, minute: 10, payer: ADDRESS, replaces: ['t2'] },
  { id: 't3', order: 'swept twice', status: 'detected', share: 49_500_000, block: 30, minute: 11 },
  { id: 's3', order: 'swept twice', status: 'confirmed', share: 49_500_000, block: 40, minute: 11, payer: ADDRESS, replaces: ['t2', 't3'] },
  { id: 't4', order: 'waits for its sweep', status: 'detected', share: 99_000_000, block: 10, minute: 10 },
  { id: 't5', order: 'sweep detected', status: 'detected', share: 99_000_000, block: 10, minute: 10 },
  { id: 's5', order: 'sweep detected', status: 'detected', share: 99_000_000, block: 20, minute: 10, payer: ADDRESS, replaces: ['t5'] },
  { id: 's6', order: 'third party', status: 'confirmed', share: 99_000_000, block: 20, minute: 10, payer: ADDRESS },
  { id: 'r7', order: 'underpaid', status: 'confirmed', share: 49_500_001, block: 10, minute: 10 },
  { id: 'a8', order: 'rounded', status: 'confirmed', share: 33_000_000, block: 10, minute: 10 },
  { id: 'b8', order: 'rounded', status: 'confirmed', share: 66_000_001, block: 11, minute: 10 },
  { id: 'a9', order: 'duplicate', status: 'confirmed', share: 99_000_000, block: 10, minute: 10 },
  { id: 'b9', order: 'duplicate', status: 'confirmed', share: 99_000_000, block: 12, minute: 11 },
  { id: 'o9', order: 'duplicate', status: 'orphaned', share: 99_000_000, block: 13, minute: 11 },
  { id: 'r10', order: 'late', status: 'confirmed', share: 99_000_000, block: 50, minute: 31 },
  { id: 'r11', order: 'short by a unit', status: 'confirmed', share: 98_999_999, block: 10, minute: 10 },
  { id: 'r12', order: 'dust after cancel', status: 'confirmed', share: 1, block: 10, minute: 10 },
]

const idOf = (name: string) => `01981f3c-0000-7000-8000-${String(ORDERS.findIndex(order => order.name === name)).padStart(12, '0')}`
const hash = (id: string) => `0x${Buffer.from(id).toString('hex').padEnd(64, '0')}`

async function insertOld(): Promise<void> {
  for (const { name, status, exception, received = 0, published = 0, paidAt, expiresAt = END, deposit } of ORDERS) {
    const isSwept = deposit || PAYMENTS.some(({ order, payer, id }) => order === name && (payer === ADDRESS || id.startsWith('t')))
    const last = PAYMENTS.filter(one => one.order === name && one.status === 'confirmed').at(0)
    await database.query(
      `INSERT INTO orders (id, merchant_id, merchant_version, merchant_name, merchant_address, status, exception, metadata, brl_centavos, usdc_units,
         fee_bps, fee_units, expected_units, received_units, told_units, rate_micros, rate_source, rate_as_of, rate_spread_bps, memo, chain_id,
         token_address, router_address, deposit_address, tx_hash, expires_at, paid_at, expired_at, cancelled_at, created_at)
       VALUES ($1, '01981f3c-0000-7000-8000-000000000001', 1, 'M', '0x04', $2, $3, '{}', 100, 100000000, 100, 1000000, 99000000, $4, $5, 1000000, 'static',
         $6, 0, $7, 1, '0x02', '0x03', $8, $9, $10, $11, $12, $13, $6)`,
      [
        idOf(name),
        status,
        exception ?? null,
        received,
        published,
        at(0),
        hash(name).slice(2, 66),
        isSwept ? ADDRESS : null,
        last ? hash(last.id) : null,
        expiresAt,
        paidAt ?? null,
        status === 'expired' ? END : null,
        status === 'cancelled' ? at(1) : null,
      ],
    )
  }
  for (const { id, order, status, share, block, minute, payer = PAYER, replaces = [] } of PAYMENTS) {
    await database.query(
      `INSERT INTO payments (id, order_id, revision, status, share_units, payer_address, tx_hash, block_number, block_time, replaces)
       VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9)`,
      [id, idOf(order), status, share, payer, hash(id), block, at(minute), replaces],
    )
  }
  await database.query(
    `INSERT INTO unmatched_payments (id, reason, revision, status, chain_id, router_address, token_address, memo, merchant_address, payer_address,
       share_units, tx_hash, block_number, block_time)
     VALUES ('u1', 'unknown_memo', 1, 'confirmed', 1, '0x03', '0x02', 'nobody', '0x04', $1, 99000000, $2, 10, $3)`,
    [PAYER, hash('u1'), at(10)],
  )
  await database.query(
    "INSERT INTO chain_cursors (chain_id, watermark, confirmed_time, head_block) VALUES (1, 40, '2026-11-01T12:29:00Z', 60)",
  )
}

beforeAll(async () => {
  for (const name of readdirSync(ordersMigrations).filter(each => each < CHANGED))
    cpSync(join(ordersMigrations, name), join(before, name), { recursive: true })
  home = await testDatabase(before)
  database = openDatabase({ url: home.url, poolSize: 2 })
  await insertOld()
  await migrate(home.url, ordersMigrations)
  store = openStore(database, { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined })
  await store.chain.refresh(1)
})
afterAll(async () => {
  await database.stop?.()
  await home.drop()
  rmSync(before, { recursive: true })
})

const history = async (name: string): Promise<OrderHistory> => {
  const found = await store.orders.history(idOf(name))
  if (!found) throw new Error(`${name} is gone.`)
  return found
}
const paymentsOf = async (name: string) => {
  const found = await history(name)
  const settled = settlements(found.payments, found.sweeps, () => false)
  return found.payments.map(({ id, kind, status, grossUnits }) => [id, kind, status, Number(grossUnits), settled.get(id)?.txHash ?? null])
}

it('every order keeps its status, and its payments make it that', async () => {
  const after = await Promise.all(ORDERS.map(async ({ name }) => [name, (await history(name)).order.status]))
  expect(after).toEqual(ORDERS.map(({ name, status }) => [name, status]))
  const differences = (await store.orders.page('newest', 100)).flatMap(ledger => differencesOf(ledger, store.chain.view(1)))
  expect(differences).toEqual([])
})

it('a sweep becomes a sweep, and what it stood for a confirmed transfer at its own time', async () => {
  expect(await paymentsOf('swept paid')).toEqual([['t1', 'transfer', 'confirmed', 100_000_000, hash('s1')]])
  expect(await paymentsOf('swept twice')).toEqual([
    ['t2', 'transfer', 'confirmed', 100_000_000, hash('s2')],
    ['t3', 'transfer', 'confirmed', 50_000_000, hash('s3')],
  ])
  expect((await history('swept twice')).order).toMatchObject({ exception: 'overpaid', confirmedUnits: 150_000_000n })
})

it('what waited for its sweep waits for its own confirmation', async () => {
  for (const [name, id] of [
    ['waits for its sweep', 't4'],
    ['sweep detected', 't5'],
  ] as const) {
    expect(await paymentsOf(name)).toMatchObject([[id, expect.anything(), 'detected', 100_000_000, null]])
    const found = await history(name)
    const confirmed = found.payments.map(payment => ({ ...payment, kind: 'transfer' as const, version: 2, status: 'confirmed' as const }))
    expect(receivePayments({ ...found, isAll: true }, confirmed, { time: null }, new Date())?.order.status).toBe('paid')
  }
})

it('swept money that no transfer is known for stays a payment', async () => {
  expect(await paymentsOf('third party')).toEqual([['s6', 'transfer', 'confirmed', 100_000_000, hash('s6')]])
  expect((await history('third party')).order.confirmedUnits).toBe(100_000_000n)
})

it('amounts are gross, to the unit where it can be known, and exceptions mean what they mean now', async () => {
  expect((await history('underpaid')).order).toMatchObject({ confirmedUnits: 50_000_001n, notifiedUnits: 50_000_001n })
  expect((await history('rounded')).order.exception).toBeNull()
  expect((await history('duplicate')).order.exception).toBe('duplicate')
  expect((await history('dust after cancel')).order.exception).toBeNull()
  expect((await history('short by a unit')).order).toMatchObject({ status: 'expired', exception: null, toleranceUnits: 0n })
  const [unmatched] = await store.unmatched.below(null, 10)
  expect(unmatched).toMatchObject({ id: 'u1', kind: 'router', grossUnits: 100_000_000n })
})

it('what an order’s payments come to is counted once, as the order keeps it from now on', async () => {
  for (const { name } of ORDERS) {
    const { order, payments } = await history(name)
    // Not counted anew for a column that one network has no use for.
    expect([name, order]).toEqual([name, { ...order, ...tallyOf(payments, requiredUnits(order)), lastTime: null }])
  }
})

it('the ledger begins with all that the books hold, each movement once and in the order of the chain', async () => {
  const entriesOf = async (name: string) => {
    const { rows } = await database.query<{ kind: string; units: string }>(
      'SELECT kind, sum(units) AS units FROM entries WHERE order_id = $1 GROUP BY kind',
      [idOf(name)],
    )
    return Object.fromEntries(rows.map(({ kind, units }) => [kind, Number(units)]))
  }
  expect(await entriesOf('router paid')).toEqual({ payment: 100_000_000, fee: 1_000_000, settled: 99_000_000 })
  expect(await entriesOf('swept twice')).toEqual({ payment: 150_000_000, fee: 1_500_000, settled: 148_500_000 })
  expect(await entriesOf('duplicate')).toEqual({ payment: 200_000_000, fee: 2_000_000, settled: 198_000_000 })
  expect(await entriesOf('waits for its sweep')).toEqual({})
  expect(await store.ledger.unbooked(0n, 1_000n)).toEqual([])
  expect(await store.ledger.wrongSums(new Date(0))).toEqual([])
  const { rows } = await database.query<{ sequence: string; block_number: string }>(
    'SELECT sequence, block_number FROM entries ORDER BY sequence',
  )
  expect(rows.map(({ sequence }) => Number(sequence))).toEqual(rows.map((_, index) => index + 1))
  const blocks = rows.map(({ block_number }) => Number(block_number))
  expect(blocks).toEqual(blocks.toSorted((a, b) => a - b))
})

it('nothing expires until the listener has answered for it in a generation of its history', async () => {
  expect(await store.orders.due(1, { time: new Date() }, null, 100)).toEqual([])
})
