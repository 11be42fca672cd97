import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { EXPORT_ROWS_MAX } from '@ponte/contracts'
import { entryBody } from '../ledger/entry'
import { searchIn } from '../ledger/export'
import type { EntrySearch, ExportLease, Store } from '../store'
import { type LedgerPages, ledgerFile } from './ledger-file'

const compress = promisify(gzip)

/** Entries that are in memory at a time. */
const PAGE = 250
const PART_BYTES = 1_048_576

type Stores = Pick<Store, 'ledger' | 'exports'>

/** Makes the file that was asked for first and that no replica is at. True when there may be another one. */
export async function makeExport({ ledger, exports }: Stores, now: () => Date, signal: AbortSignal): Promise<boolean> {
  const one = await exports.claim(now())
  if (!one) return false
  const search: EntrySearch = { ...searchIn(one), ...(one.format === 'ofx' ? { payout: true as const } : {}) }
  const total = await ledger.count(one.merchantId, search, EXPORT_ROWS_MAX + 1)
  if (total > EXPORT_ROWS_MAX) {
    await exports.fail(one, 'too_many_rows')
    return true
  }
  await exports.counted(one, total)
  const written = await writeParts({ ledger, exports }, one, signal)
  if (written) await exports.finish(one, { ...written, at: now() })
  else await exports.release(one)
  return true
}

/** Null where the signal ended it. */
async function writeParts({ ledger, exports }: Stores, one: ExportLease, signal: AbortSignal) {
  const pages = pagesOf(ledger, one)
  const [written, pending] = [
    { rows: 0, size: 0, number: 0 },
    { parts: [] as Uint8Array[], size: 0 },
  ]
  const flush = async () => {
    const bytes = Buffer.concat(pending.parts.splice(0))
    pending.size = 0
    await exports.append(one, written.number, one.format === 'xlsx' ? bytes : await compress(bytes), written.rows)
    written.number += 1
  }
  for await (const { bytes, rows } of ledgerFile(one.format, one.form, pages, one.createdAt)) {
    if (signal.aborted) return null
    pending.parts.push(bytes)
    pending.size += bytes.length
    written.size += bytes.length
    written.rows += rows
    if (pending.size >= PART_BYTES) await flush()
  }
  if (pending.size > 0) await flush()
  return { rows: written.rows, size: written.size }
}

function pagesOf(ledger: Stores['ledger'], one: ExportLease): LedgerPages {
  const search = searchIn(one)
  const read = async function* (more: Pick<EntrySearch, 'payout'>) {
    let after: number | undefined
    do {
      const { rows, history } = await ledger.list(one.merchantId, { ...search, ...more, after }, PAGE)
      yield rows.map(entryBody(history))
      after = rows.length < PAGE ? undefined : rows.at(-1)?.sequence
    } while (after !== undefined)
  }
  return {
    entries: () => read({}),
    accounts: () => ledger.payoutAccounts(one.merchantId, search),
    movements: account => read({ payout: account }),
  }
}
