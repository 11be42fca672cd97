import { z } from 'zod'
import { id, timestamp } from '../fields'
import { entryFilters, entryKind, fileForm } from './entry'
import { listOf } from './list'

export const exportFormat = z.enum(['csv', 'xlsx', 'jsonl', 'ofx']).meta({
  description:
    '`csv`: RFC 4180. `xlsx`: one sheet, with amounts as numbers and times as dates. `jsonl`: an entry of `GET /entries` per line. ' +
    '`ofx`: OFX 1.0.2, a statement per payout address of what reached and left it, in USDC.',
})
export type ExportFormat = z.infer<typeof exportFormat>

/** More does not fit into a sheet of XLSX. */
export const EXPORT_ROWS_MAX = 1_000_000
/** Files of one merchant that are made at a time. */
export const EXPORTS_OPEN_MAX = 3
/** Files of one merchant that are kept. */
export const EXPORTS_KEPT_MAX = 5
export const EXPORT_KEPT_S = 172_800

/** Body of `POST /api/v1/exports`; without a form it is the international one. */
export const createExport = z.strictObject({ ...entryFilters, format: exportFormat, form: fileForm.optional() })
export type CreateExport = z.infer<typeof createExport>

export const exportStatus = z.enum(['waiting', 'running', 'ready', 'failed'])
export type ExportStatus = z.infer<typeof exportStatus>

export const exportFailure = z.enum(['too_many_rows', 'not_finished']).meta({
  description: `\`too_many_rows\`: more than ${EXPORT_ROWS_MAX.toLocaleString('en')} entries; ask for a shorter range. \`not_finished\`: it failed several times on our side; make another one.`,
})
export type ExportFailure = z.infer<typeof exportFailure>

/** A file of the ledger, made in the background. */
export const ledgerExport = z.object({
  object: z.literal('export'),
  id,
  status: exportStatus,
  format: exportFormat,
  form: fileForm,
  at_gte: timestamp.nullable(),
  at_lt: timestamp.nullable(),
  kind: entryKind.nullable(),
  order_id: id.nullable(),
  through: z.int().meta({ description: 'The last sequence of your entries when it was asked for: later ones are not in it' }),
  rows: z.int().meta({ description: 'Entries that were written so far' }),
  rows_total: z.int().nullable().meta({ description: 'Entries that it is made of; null until they were counted' }),
  size: z.int().nullable().meta({ description: 'Bytes of the file; null until it is ready' }),
  failure: exportFailure.nullable(),
  file_url: z.string().nullable().meta({ description: 'Takes the same credential; null unless it is ready' }),
  created_at: timestamp,
  ready_at: timestamp.nullable(),
  expires_at: timestamp.meta({ description: 'It is removed then, or earlier when newer files take its place' }),
})
export type ExportBody = z.infer<typeof ledgerExport>

export const exportList = listOf(ledgerExport)
