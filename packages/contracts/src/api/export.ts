import { z } from 'zod'
import { address, id, timestamp, usdcAmount, usdcAmountInput } from '../fields'
import { DOSSIER_ORIGINS_MAX } from './dossier'
import { entryFilters, entryKind, fileForm } from './entry'
import { listOf } from './list'
import { chainIdInput } from './network'

export const exportFormat = z.enum(['csv', 'xlsx', 'jsonl', 'ofx', 'dossier_json', 'dossier_pdf']).meta({
  description:
    '`csv`: RFC 4180. `xlsx`: one sheet, with amounts as numbers and times as dates. `jsonl`: an entry of `GET /entries` per line. ' +
    '`ofx`: OFX 1.0.2, a statement per payout address of what reached and left it, in USDC. ' +
    '`dossier_json`: an origin dossier, signed: where the USDC of a withdrawal came from; it takes `amount` or `entries`, and none of the filters. ' +
    '`dossier_pdf`: the same on A4, in Portuguese and English, with the signed JSON in it.',
})
export type ExportFormat = z.infer<typeof exportFormat>

/** Formats of origin dossiers: of a sum or of named entries, where every other file is of the entries that its filters leave. */
export const DOSSIER_FORMATS = ['dossier_json', 'dossier_pdf'] as const satisfies readonly ExportFormat[]
export type DossierFormat = (typeof DOSSIER_FORMATS)[number]

/** Content type of each format's file. */
export const EXPORT_TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  jsonl: 'application/x-ndjson; charset=utf-8',
  ofx: 'application/x-ofx',
  dossier_json: 'application/json',
  dossier_pdf: 'application/pdf',
}

/** More does not fit into a sheet of XLSX. */
export const EXPORT_ROWS_MAX = 1_000_000
/** Files of one merchant that are made at a time. */
export const EXPORTS_OPEN_MAX = 3
/** Files of one merchant that are kept. */
export const EXPORTS_KEPT_MAX = 5
export const EXPORT_KEPT_S = 172_800

/** Body of `POST /api/v1/exports`; without a form it is the international one. */
export const createExport = z
  .strictObject({
    ...entryFilters,
    format: exportFormat,
    form: fileForm.optional(),
    amount: usdcAmountInput
      .refine(amount => /[1-9]/.test(amount), 'must be above zero')
      .optional()
      .meta({
        description: 'Of a dossier: USDC that left the payout address. The newest entries that reached it make it up',
        example: '250.00',
      }),
    payout_address: address
      .optional()
      .meta({ description: 'Of a dossier of an amount: the payout address that it left; yours of now by default' }),
    chain_id: chainIdInput.optional().meta({
      description:
        'Entries on this network alone. Of a dossier of an amount: the network on which it left, where there are several; by default that of `payment.chain_id` of a new order',
    }),
    entries: z
      .array(z.int().min(1))
      .min(1)
      .max(DOSSIER_ORIGINS_MAX)
      .optional()
      .meta({ description: 'Of a dossier: sequences of entries `settled` or `direct`, instead of an amount', example: [12, 15] }),
  })
  .superRefine((body, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (!DOSSIER_FORMATS.some(format => format === body.format)) {
      for (const name of ['amount', 'payout_address', 'entries'] as const)
        if (body[name] !== undefined) refuse(name, 'goes with the formats dossier_json and dossier_pdf alone')
      return
    }
    for (const name of ['at_gte', 'at_lt', 'kind', 'order_id', 'form'] as const)
      if (body[name] !== undefined) refuse(name, 'does not go with a dossier')
    if ((body.amount === undefined) === (body.entries === undefined)) refuse('amount', 'or entries must be sent, and one of them alone')
    for (const name of ['payout_address', 'chain_id'] as const)
      if (body.entries !== undefined && body[name] !== undefined) refuse(name, 'goes with amount alone')
    if (body.entries !== undefined && new Set(body.entries).size < body.entries.length) refuse('entries', 'names an entry twice')
  })
export type CreateExport = z.infer<typeof createExport>

export const exportStatus = z.enum(['waiting', 'running', 'ready', 'failed'])
export type ExportStatus = z.infer<typeof exportStatus>

export const exportFailure = z.enum(['too_many_rows', 'not_finished', 'not_proven', 'too_large']).meta({
  description:
    `\`too_many_rows\`: more than ${EXPORT_ROWS_MAX.toLocaleString('en')} entries; ask for a shorter range. \`not_finished\`: it failed several times on our side; make another one. ` +
    '`not_proven`: no node showed receipts that hash to a block of the dossier; make another one later, or without the entry. `too_large`: a dossier with its proofs is larger than 64 MB; ask for a smaller amount.',
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
  chain_id: z.int().nullable().meta({ description: 'Entries on this network alone, or a dossier of it' }),
  amount: usdcAmount.nullable().meta({ description: 'Of a dossier of an amount' }),
  payout_address: address.nullable().meta({ description: 'Of a dossier of an amount' }),
  entries: z.array(z.int()).nullable().meta({ description: 'Of a dossier of named entries' }),
  through: z.int().meta({ description: 'The last sequence of your entries when it was asked for: later ones are not in it' }),
  rows: z.int().meta({ description: 'Entries that were written so far; of a dossier those that are proven' }),
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
