import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLocalChain } from '@ponte/local-servers'
import { depositAddress } from '@ponte/payment-router'
import { migrate, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { chainListenerMigrations } from '../src'
import { startListener } from './setup'

const MIGRATION = '20261122090000_transfers_are_payments'
const MERCHANT = `0x${'02'.repeat(20)}`
const STRANGER = `0x${'03'.repeat(20)}`
const hashOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
const memoOf = (n: number) => n.toString(16).padStart(64, '0')
const idOf = (n: number) => `01981f3c-7b1e-7cc3-9d0e-${n.toString(16).padStart(12, '0')}`

/** The migrations of the state before, in a folder of their own. */
async function migrationsBefore(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-migrations-'))
  const names = (await readdir(chainListenerMigrations)).filter(name => name < MIGRATION)
  for (const name of names) await cp(join(chainListenerMigrations, name), join(folder, name), { recursive: true })
  return folder
}

describe('a database in which sweeps posed as payments', () => {
  let before: string
  let database: Awaited<ReturnType<typeof testDatabase>>
  let chain: Awaited<ReturnType<typeof startLocalChain>>
  beforeAll(async () => {
    chain = await startLocalChain({ noMining: true })
    await chain.mine(20)
    before = await migrationsBefore()
    database = await testDatabase(before)
  })
  afterAll(async () => {
    await database.drop()
    await chain.stop()
    await rm(before, { recursive: true })
  })

  it('is carried over: sweeps are sweeps, what they stood for is confirmed, the rest is published, and every address stays watched', async () => {
    const sql = openDatabase({ url: database.url, poolSize: 1 })
    const router = chain.routerAddress.toLowerCase()
    const addressOf = (n: number) => depositAddress({ router, memo: memoOf(n), merchant: MERCHANT }).toLowerCase()
    const head = await chain.provider.getBlock('latest')
    if (!head) throw new Error('no head')
    await sql.query(
      `INSERT INTO chain_cursor (chain_id, epoch, start_block, scanned_number, scanned_hash, scanned_time, confirmed_number, confirmed_time,
         announced_number, sequence) VALUES (31337, 1, 0, $1, $2, to_timestamp($3), $1, to_timestamp($3), $1, 7)`,
      [head.number, head.hash, head.timestamp],
    )
    await sql.query(`INSERT INTO blocks (chain_id, number, hash, parent_hash, time) VALUES (31337, $1, $2, $3, to_timestamp($4))`, [
      head.number,
      head.hash,
      head.parentHash,
      head.timestamp,
    ])
    await sql.query('INSERT INTO routers (chain_id, address) VALUES (31337, $1)', [router])
    const payable = (n: number, level: boolean, readTo: number | null, expires: string) =>
      sql.query(
        `INSERT INTO payables (chain_id, order_id, memo, merchant, router, address, asked_units, expires_at, level, read_to, created_at)
         VALUES (31337, $1, $2, $3, $4, $5, 1000, now() + $6::interval, $7, $8, now() - interval '1 hour')`,
        [idOf(n), memoOf(n), MERCHANT, router, addressOf(n), expires, level, readTo],
      )
    await payable(1, true, null, '1 hour')
    await payable(2, true, null, '1 hour')
    await payable(3, false, 4, '-3 hours')
    await payable(4, false, 4, '-9 days')
    await payable(5, false, null, '1 hour')
    const row = (n: number, of: { payer: string; deposit?: string; state: string; block: number; memo?: number; revision?: number }) =>
      sql.query(
        `INSERT INTO payments (chain_id, tx_hash, ordinal, state, revision, router, memo, merchant, payer, share, fee, block_number, block_hash,
           block_time, log_index, deposit) VALUES (31337, $1, 0, $2, $3, $4, $5, $6, $7, 990, 10, $8, $9, now(), $11, $10)`,
        [
          hashOf(n),
          of.state,
          of.revision ?? 1,
          router,
          memoOf(of.memo ?? 1),
          MERCHANT,
          of.payer,
          of.block,
          hashOf(of.block),
          of.deposit ?? null,
          n,
        ],
      )
    // Swept, not swept, and paid through the router; a transfer after the sweep waits for the next one.
    await row(1, { payer: STRANGER, deposit: addressOf(1), state: 'confirmed', block: 5 })
    await row(2, { payer: addressOf(1), state: 'confirmed', block: 7, revision: 2 })
    await row(3, { payer: STRANGER, deposit: addressOf(1), state: 'confirmed', block: 8 })
    await row(4, { payer: STRANGER, deposit: addressOf(2), state: 'confirmed', block: 9, memo: 2 })
    await row(5, { payer: STRANGER, state: 'confirmed', block: 9, memo: 2, revision: 2 })
    await row(6, { payer: STRANGER, deposit: addressOf(2), state: 'orphaned', block: 10, memo: 2, revision: 2 })

    const unsent = idOf(99)
    await sql.query("INSERT INTO outbox (id, type, body) VALUES ($1, 'payment.detected', '{}')", [unsent])
    await expect(migrate(database.url, chainListenerMigrations)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('are not published yet') },
    })
    await sql.query('UPDATE outbox SET sent_at = now() WHERE id = $1', [unsent])
    expect(await migrate(database.url, chainListenerMigrations)).toContain(MIGRATION)

    const { rows } = await sql.query('SELECT kind, state, amount::text, deposit FROM payments ORDER BY tx_hash')
    expect(rows).toEqual([
      { kind: 'transfer', state: 'confirmed', amount: '1000', deposit: addressOf(1) },
      { kind: 'sweep', state: 'confirmed', amount: '1000', deposit: addressOf(1) },
      { kind: 'transfer', state: 'detected', amount: '1000', deposit: addressOf(1) },
      { kind: 'transfer', state: 'detected', amount: '1000', deposit: addressOf(2) },
      { kind: 'router', state: 'confirmed', amount: '1000', deposit: null },
      { kind: 'transfer', state: 'orphaned', amount: '1000', deposit: addressOf(2) },
    ])
    const read = await sql.query('SELECT order_id, blocks::text FROM payables JOIN coverage ON subject = address ORDER BY order_id')
    expect(read.rows).toEqual([
      { order_id: idOf(1), blocks: `{(,${head.number + 1})}` },
      { order_id: idOf(2), blocks: `{(,${head.number + 1})}` },
      { order_id: idOf(3), blocks: '{(,5)}' },
      { order_id: idOf(4), blocks: '{(,)}' },
      { order_id: idOf(5), blocks: '{(,0)}' },
    ])
    await sql.stop?.()

    const listening = await startListener({
      rpcUrls: chain.rpcUrl,
      router: chain.routerAddress,
      databaseUrl: database.url,
      env: { TOKEN_ADDRESS: chain.usdcAddress },
    })
    await chain.mine(1)
    await listening.idle()
    // What orders knows already may be stated again, and nothing else.
    const published = listening.published.payments().map(({ type, data }) => `${type} ${data.tx_hash}`)
    const confirmed = (...each: number[]) => each.map(n => `payment.confirmed ${hashOf(n)}`)
    expect(published).toEqual(expect.arrayContaining(confirmed(3, 4)))
    expect(confirmed(1, 3, 4, 5)).toEqual(expect.arrayContaining(published))
    await listening.stop()
  })
})
