import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { exportFormat } from '@ponte/contracts'
import { ordersMigrations } from '@ponte/orders'
import { openDatabase, uuidv7 } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { makeExport } from '../src/export/export-job'
import { isDossier, openExport } from '../src/ledger/export'
import { exportStore } from '../src/store/exports'
import { ledgerStore } from '../src/store/ledger'

// A file of a million entries in each format, or in those that are named: how long it takes, and how much memory a process of its own takes with it.

const ENTRIES = Number(process.env.BENCH_ENTRIES ?? 1_000_000)
const MB = 1024 * 1024
/** Node derives these from a container of 512 MiB; on a large machine its young generation alone grows to 128 MB under any load. */
const CONTAINER = ['--max-semi-space-size=1', '--max-old-space-size=256']

// Raw SQL: rows as the ledger has them, three to a payment.
const FILL = `
  INSERT INTO entries (merchant_id, sequence, kind, units, brl_centavos, order_id, at, chain_id, tx_hash, log_index, block_number, block_time, payer_address, address, booked_at)
  SELECT $1, n, (ARRAY['payment', 'fee', 'settled'])[1 + n % 3], 27675277, 15000, gen_random_uuid(), at, 8453,
    '0x' || md5(n::text) || md5((n / 3)::text), n % 90, 10000000 + n, at, '0x' || md5('p' || n % 5000) || 'aabbccdd', '0x' || repeat('ab', 20), at
  FROM (SELECT n, '2026-01-01T03:00:00Z'::timestamptz + n * interval '30 seconds' AS at FROM generate_series($2::int, $3::int) AS n) AS made`

async function main(named: readonly string[]): Promise<void> {
  const formats = named.length > 0 ? named : exportFormat.options.filter(format => !isDossier(format))
  const home = await testDatabase(ordersMigrations)
  const database = openDatabase({ url: home.url, poolSize: 1 })
  try {
    const merchantId = uuidv7()
    for (let from = 1; from <= ENTRIES; from += 50_000) await database.query(FILL, [merchantId, from, Math.min(from + 49_999, ENTRIES)])
    await database.query('ANALYZE entries')
    const rows: unknown[] = []
    for (const format of formats) {
      const child = fork(__filename, [format, home.url, merchantId], { execArgv: [...process.execArgv, ...CONTAINER] })
      child.once('message', row => rows.push(row))
      const [code] = await once(child, 'exit')
      if (code !== 0) throw new Error(`The process that made ${format} ended with ${code}.`)
    }
    const title = `Files of ${ENTRIES.toLocaleString('en')} entries of the ledger, one replica`
    console.log(`\n${title}`)
    console.table(rows)
    const file = process.env.PONTE_BENCH_RESULT
    if (file) writeFileSync(file, `${JSON.stringify({ title, node: process.version, rows }, null, 2)}\n`)
  } finally {
    await database.stop?.()
    await home.drop()
  }
}

async function make(format: string, url: string, merchantId: string): Promise<void> {
  const database = openDatabase({ url, poolSize: 3 })
  const now = () => new Date()
  const store = { ledger: ledgerStore(database), exports: exportStore(database) }
  const ids = { id: uuidv7(), merchantId, through: ENTRIES, requestedBy: null }
  const asked = openExport(ids, { format: exportFormat.parse(format), form: 'brazilian' }, now())
  await store.exports.insert(asked, [])
  const restMb = process.memoryUsage.rss() / MB
  const before = process.cpuUsage()
  await makeExport(store, now, new AbortController().signal)
  const { user, system } = process.cpuUsage(before)
  const found = await store.exports.find(merchantId, asked.id, now())
  process.send?.({
    format,
    status: found?.status,
    rows: found?.rows,
    cpuS: Number(((user + system) / 1e6).toFixed(1)),
    fileMb: Math.round((found?.size ?? 0) / MB),
    restMb: Math.round(restMb),
    peakMb: Math.round(process.resourceUsage().maxRSS / 1024),
  })
  await database.stop?.()
  process.disconnect?.()
}

const [format, url, merchantId] = process.argv.slice(2)
const work = format && url && merchantId && process.send ? make(format, url, merchantId) : main(process.argv.slice(2))
work.catch(error => {
  console.error(error)
  process.exitCode = 1
})
