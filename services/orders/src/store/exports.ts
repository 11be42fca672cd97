import { randomUUID } from 'node:crypto'
import { EXPORTS_KEPT_MAX, EXPORTS_OPEN_MAX, entryKind, exportFailure, exportFormat, exportStatus, fileForm } from '@ponte/contracts'
import { commitUnit, type Database, insertRows, int, type Statement, type StoredAnswer, table, text, time } from '@ponte/service-kit'
import { dossierBasis } from '../ledger/dossier-basis'
import type { LedgerExport } from '../ledger/export'

const exports = table('exports', {
  id: text,
  merchantId: text,
  status: exportStatus,
  format: exportFormat,
  form: fileForm,
  atGte: time.nullable(),
  atLt: time.nullable(),
  kind: entryKind.nullable(),
  orderId: text.nullable(),
  chainId: int.nullable(),
  through: int,
  requestedBy: text.nullable(),
  createdAt: time,
  expiresAt: time,
  lease: text.nullable(),
  attempts: int,
  rows: int,
  rowsTotal: int.nullable(),
  size: int.nullable(),
  readyAt: time.nullable(),
  failure: exportFailure.nullable(),
  dossier: dossierBasis.nullable(),
})

/** A replica that wrote nothing for so long loses its file to another one; longer than a statement lasts. */
const LEASE = "interval '60 seconds'"
export const EXPORT_ATTEMPTS_MAX = 5
const FORGET_MAX = 20

const INSERT: Statement = { name: 'export-insert', text: insertRows('exports', exports.columns) }
// Raw SQL: of two that are asked for at once by one merchant the second is to see the first.
const TURN = "SELECT pg_advisory_xact_lock(hashtextextended('exports ' || $1, 0))"
const OPEN = "SELECT FROM exports WHERE merchant_id = $1 AND status IN ('waiting', 'running') AND expires_at > $2"
const MAKE_ROOM = `
  DELETE FROM exports WHERE id IN (SELECT id FROM exports WHERE merchant_id = $1 AND status IN ('ready', 'failed') ORDER BY created_at DESC, id DESC OFFSET $2)`

// Raw SQL: a claim of one row that no other replica is at. What was tried too often is not tried again.
const CLAIM = `
  UPDATE exports SET status = 'running', lease = $1, leased_until = clock_timestamp() + ${LEASE}, attempts = attempts + 1, rows = 0
  WHERE id = (
    SELECT id FROM exports WHERE status IN ('waiting', 'running') AND (leased_until IS NULL OR leased_until < clock_timestamp()) AND expires_at > $2
      AND (dossier IS NOT NULL) = $3 AND attempts < ${EXPORT_ATTEMPTS_MAX} ORDER BY created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING ${exports.select()}`
const GIVE_UP = `
  UPDATE exports SET status = 'failed', failure = 'not_finished'
  WHERE status IN ('waiting', 'running') AND attempts >= ${EXPORT_ATTEMPTS_MAX} AND leased_until < clock_timestamp()`

/** A replica whose file was taken over writes nothing any more. */
const HELD = "WHERE id = $1 AND lease = $2 AND status = 'running'"
const COUNTED = `UPDATE exports SET rows_total = $3, leased_until = clock_timestamp() + ${LEASE} ${HELD}`
const PROGRESS = `UPDATE exports SET rows = $3, leased_until = clock_timestamp() + ${LEASE} ${HELD}`
// Raw SQL: the part and the lease that allows it in one statement.
const APPEND = `
  WITH held AS (UPDATE exports SET rows = $5, leased_until = clock_timestamp() + ${LEASE} ${HELD} RETURNING id, lease)
  INSERT INTO export_chunks (export_id, lease, number, bytes) SELECT id, lease, $3, $4 FROM held`
const FINISH = `UPDATE exports SET status = 'ready', rows = $3, rows_total = $3, size = $4, ready_at = $5 ${HELD}`
const FAIL = `UPDATE exports SET status = 'failed', failure = $3 ${HELD}`
// An end of the process that was announced is no failed attempt.
const RELEASE = `UPDATE exports SET status = 'waiting', leased_until = NULL, attempts = attempts - 1 ${HELD}`

// Raw SQL: in parts, for a file may be large. With a file that has expired go its parts.
const FORGET = 'DELETE FROM exports WHERE id IN (SELECT id FROM exports WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)'
const FORGET_PARTS = `
  DELETE FROM export_chunks USING exports WHERE exports.id = export_id AND status IN ('ready', 'failed') AND export_chunks.lease IS DISTINCT FROM exports.lease`

/** An export whose file is written here, as long as the lease holds. */
export interface ExportLease extends LedgerExport {
  lease: string
}

/** Thrown where another replica has taken the file over, or it is gone. */
export class ExportLeaseLostError extends Error {
  override name = 'ExportLeaseLostError'
}

/** Files of the ledger, with their parts. Raw SQL, for each step stands under its lease. */
export function exportStore(database: Database) {
  const held = async (name: string, statement: string, { id, lease }: ExportLease, ...values: readonly unknown[]): Promise<void> => {
    const { rowCount } = await database.query({ name, text: statement }, [id, lease, ...values])
    if (!rowCount) throw new ExportLeaseLostError(`Export ${id} is written by another replica, or is gone.`)
  }
  return {
    /** False when so many of the merchant's are being made that another one has to wait. What is too many of those that are done is removed. */
    insert: (one: LedgerExport, answers: readonly StoredAnswer[]): Promise<boolean> =>
      database.transaction(async sql => {
        await sql.query(TURN, [one.merchantId])
        const { rowCount } = await sql.query(OPEN, [one.merchantId, one.createdAt])
        if ((rowCount ?? 0) >= EXPORTS_OPEN_MAX) return false
        await sql.query(MAKE_ROOM, [one.merchantId, EXPORTS_KEPT_MAX - 1])
        await commitUnit(sql, { write: INSERT, rows: { exports: [exports.record(one)] }, answers })
        return true
      }),

    async find(merchantId: string, id: string, at: Date): Promise<LedgerExport | null> {
      const where = 'WHERE id = $1 AND merchant_id = $2 AND expires_at > $3'
      const { rows } = await database.query({ name: 'export-find', text: `SELECT ${exports.select()} FROM exports ${where}` }, [
        id,
        merchantId,
        at,
      ])
      return rows[0] ? exports.parse(rows[0]) : null
    },

    /** Newest first. */
    async list(merchantId: string, at: Date): Promise<LedgerExport[]> {
      const rest = 'WHERE merchant_id = $1 AND expires_at > $2 ORDER BY created_at DESC, id DESC'
      const { rows } = await database.query({ name: 'export-list', text: `SELECT ${exports.select()} FROM exports ${rest}` }, [
        merchantId,
        at,
      ])
      return rows.map(exports.parse)
    },

    /** The oldest that no replica is at. */
    async claim(of: 'entries' | 'dossier', at: Date): Promise<ExportLease | null> {
      await database.query({ name: 'exports-give-up', text: GIVE_UP })
      const lease = randomUUID()
      const { rows } = await database.query({ name: 'export-claim', text: CLAIM }, [lease, at, of === 'dossier'])
      return rows[0] ? { ...exports.parse(rows[0]), lease } : null
    },

    counted: (one: ExportLease, rowsTotal: number) => held('export-counted', COUNTED, one, rowsTotal),
    /** Keeps the lease while nothing is written yet. */
    progress: (one: ExportLease, rows: number) => held('export-progress', PROGRESS, one, rows),
    append: (one: ExportLease, number: number, bytes: Uint8Array, rows: number) => held('export-append', APPEND, one, number, bytes, rows),
    finish: (one: ExportLease, { rows, size, at }: { rows: number; size: number; at: Date }) =>
      held('export-finish', FINISH, one, rows, size, at),
    fail: (one: ExportLease, failure: LedgerExport['failure']) => held('export-fail', FAIL, one, failure),
    release: (one: ExportLease) => held('export-release', RELEASE, one),

    async *parts({ id, lease }: LedgerExport): AsyncGenerator<Buffer> {
      for (let number = 0; ; number++) {
        const text = 'SELECT bytes FROM export_chunks WHERE export_id = $1 AND lease = $2 AND number = $3'
        const { rows } = await database.query<{ bytes: Buffer }>({ name: 'export-part', text }, [id, lease, number])
        if (!rows[0]) return
        yield rows[0].bytes
      }
    },

    /** Removes some that have expired, and parts that are of no file. True when there may be more. */
    async forget(at: Date): Promise<boolean> {
      await database.query(FORGET_PARTS)
      const { rowCount } = await database.query(FORGET, [at, FORGET_MAX])
      return rowCount === FORGET_MAX
    },
  }
}
