import { writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { exportFormat } from '@ponte/contracts'
import { ordersMigrations } from '@ponte/orders'
import { openDatabase, uuidv7 } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { makeExport } from '../src/export/export-job'
import { openExport } from '../src/ledger/export'
import { exportStore } from '../src/store/exports'
import { ledgerStore } from '../src/store/ledger'

// A file of a million entries in each format: how long it takes, and how much memory this process takes with it.

const ENTRIES = Number(process.env.BENCH_ENTRIES ?? 1_000_000)
const SAMPLE_MS = 50
const MB = 1024 * 1024

// Raw SQL: rows as the ledger has them, three to a payment.
const FILL = `
  INSERT INTO entries (merchant_id, sequence, kind, units, brl_centavos, order_id, at, chain_id, tx_hash, log_index, block_number, block_time, payer_address, address, booked_at)
  SELECT $1, n, (ARRAY['payment', 'fee', 'settled'])[1 + n % 3], 27675277, 15000, gen_random_uuid(), at, 8453,
    '0x' || md5(n::text) || md5((n / 3)::text), n % 90, 10000000 + n, at, '0x' || md5('p' || n % 5000) || 'aabbccdd', '0x' || repeat('ab', 20), at
  FROM (SELECT n, '2026-01-01T03:00:00Z'::timestamptz + n * interval '30 seconds' AS at FROM generate_series($2::int, $3::int) AS n) AS made`

async function main(): Promise<void> {
  const home = await testDatabase(ordersMigrations)
  const database = openDatabase({ url: home.url, poolSize: 3 })
  const now = () => new Date()
  const store = { ledger: ledgerStore(database), exports: exportStore(database) }
  try {
    const merchantId = uuidv7()
    for (let from = 1; from <= ENTRIES; from += 50_000) await database.query(FILL, [merchantId, from, Math.min(from + 49_999, ENTRIES)])
    await database.query('ANALYZE entries')
    const rows: object[] = []
    for (const format of exportFormat.options) {
      const asked = openExport({ id: uuidv7(), merchantId, through: ENTRIES, requestedBy: null }, { format, form: 'brazilian' }, now())
      await store.exports.insert(asked, [])
      const idleMb = process.memoryUsage.rss() / MB
      let peak = 0
      const sampling = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage.rss())
      }, SAMPLE_MS)
      const begun = performance.now()
      await makeExport(store, now, new AbortController().signal)
      const seconds = (performance.now() - begun) / 1000
      clearInterval(sampling)
      const found = await store.exports.find(merchantId, asked.id, now())
      const { rows: kept } = await database.query<{ mb: number }>(
        'SELECT sum(length(bytes))::float8 / 1048576 AS mb FROM export_chunks WHERE export_id = $1',
        [asked.id],
      )
      rows.push({
        format,
        status: found?.status,
        rows: found?.rows,
        seconds: Number(seconds.toFixed(1)),
        fileMb: Math.round((found?.size ?? 0) / MB),
        keptMb: Math.round(kept[0]?.mb ?? 0),
        idleMb: Math.round(idleMb),
        peakMb: Math.round(peak / MB),
      })
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

main().catch(error => {
  console.error(error)
  process.exitCode = 1
})
