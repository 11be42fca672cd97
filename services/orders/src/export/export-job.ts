import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { EXPORT_ROWS_MAX } from '@ponte/contracts'
import { NotProvenError } from '../chain/receipt-proof'
import { DossierRefusal, type Dossiers } from '../dossier/dossiers'
import { entryBody } from '../ledger/entry'
import { isDossier, searchIn } from '../ledger/export'
import { type EntrySearch, EXPORT_ATTEMPTS_MAX, type ExportLease, type Store } from '../store'
import { type FilePart, type LedgerPages, ledgerFile } from './ledger-file'

const compress = promisify(gzip)

/** Entries that are in memory at a time. A page is one JSON text, and V8 parses those above 100 KB into its old generation, where they lie until a major collection. */
const PAGE = 50
const PART_BYTES = 1_048_576

type Stores = Pick<Store, 'ledger' | 'exports'>

/** Makes the file of entries that was asked for first and that no replica is at. True when there may be another one. */
export async function makeExport({ ledger, exports }: Stores, now: () => Date, signal: AbortSignal): Promise<boolean> {
  const one = await exports.claim('entries', now())
  if (!one || isDossier(one.format)) return false
  const { format } = one
  const search: EntrySearch = { ...searchIn(one), ...(format === 'ofx' ? { payout: true as const } : {}) }
  const total = await ledger.count(one.merchantId, search, EXPORT_ROWS_MAX + 1)
  if (total > EXPORT_ROWS_MAX) {
    await exports.fail(one, 'too_many_rows')
    return true
  }
  await exports.counted(one, total)
  const written = await writeParts(exports, one, ledgerFile(format, one.form, pagesOf(ledger, one), one.createdAt), signal)
  if (written) await exports.finish(one, { ...written, at: now() })
  else await exports.release(one)
  return true
}

/**
 * The same for dossiers, which wait for nodes, block by block: no file of entries waits behind one. A block that cannot be proven now may be later: it is tried again
 * under another lease, and given up with its reason.
 */
export async function makeDossier(
  { exports }: Pick<Stores, 'exports'>,
  now: () => Date,
  signal: AbortSignal,
  dossiers: Pick<Dossiers, 'file'>,
): Promise<boolean> {
  const one = await exports.claim('dossier', now())
  if (!one) return false
  const proven = async (rows: number) => {
    signal.throwIfAborted()
    await exports.progress(one, rows)
  }
  try {
    const { bytes, origins } = await dossiers.file(one, proven)
    const written = await writeParts(exports, one, inParts(bytes, origins), signal)
    if (written) await exports.finish(one, { ...written, at: now() })
    else await exports.release(one)
  } catch (error) {
    if (signal.aborted) await exports.release(one)
    else if (error instanceof DossierRefusal) await exports.fail(one, error.failure)
    else if (error instanceof NotProvenError && one.attempts >= EXPORT_ATTEMPTS_MAX) await exports.fail(one, 'not_proven')
    else throw error
  }
  return true
}

async function* inParts(bytes: Buffer, rows: number): AsyncGenerator<FilePart> {
  for (let first = 0; first < bytes.length; first += PART_BYTES)
    yield { bytes: bytes.subarray(first, first + PART_BYTES), rows: first === 0 ? rows : 0 }
}

/** Null where the signal ended it. One buffer for all parts: those of pages that wait for a part to be full would outlive many minor collections, and then lie until a major one. */
async function writeParts(exports: Stores['exports'], one: ExportLease, parts: AsyncIterable<FilePart>, signal: AbortSignal) {
  const part = Buffer.allocUnsafeSlow(PART_BYTES)
  const written = { rows: 0, size: 0, number: 0 }
  let filled = 0
  const flush = async () => {
    const bytes = part.subarray(0, filled)
    await exports.append(one, written.number, one.format === 'xlsx' ? bytes : await compress(bytes), written.rows)
    written.number += 1
    filled = 0
  }
  for await (const { bytes, rows } of parts) {
    if (signal.aborted) return null
    written.size += bytes.length
    written.rows += rows
    for (let copied = 0; copied < bytes.length; ) {
      const more = bytes.copy(part, filled, copied)
      copied += more
      filled += more
      if (filled === PART_BYTES) await flush()
    }
  }
  if (filled > 0) await flush()
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
