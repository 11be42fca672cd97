import {
  type CreateExport,
  DOSSIER_FORMATS,
  type DossierFormat,
  type EntryKind,
  EXPORT_KEPT_S,
  type ExportBody,
  type ExportFailure,
  type ExportFormat,
  type ExportStatus,
  type FileForm,
  formatUsdc,
} from '@ponte/contracts'
import type { DossierBasis } from './dossier-basis'

export interface LedgerExport {
  id: string
  merchantId: string
  status: ExportStatus
  format: ExportFormat
  form: FileForm
  atGte: Date | null
  atLt: Date | null
  kind: EntryKind | null
  orderId: string | null
  chainId: number | null
  /** The last sequence that is in it: entries are never changed, so written again it is the same. */
  through: number
  requestedBy: string | null
  createdAt: Date
  expiresAt: Date
  /** Under which it is or was written. */
  lease: string | null
  attempts: number
  rows: number
  rowsTotal: number | null
  size: number | null
  readyAt: Date | null
  failure: ExportFailure | null
  /** Its basis, if it is an origin dossier. */
  dossier: DossierBasis | null
}

interface Asked {
  id: string
  merchantId: string
  through: number
  requestedBy: string | null
  dossier?: DossierBasis | null
}

export function openExport({ id, merchantId, through, requestedBy, dossier = null }: Asked, body: CreateExport, at: Date): LedgerExport {
  return {
    ...{ id, merchantId, through, requestedBy, status: 'waiting', format: body.format, form: body.form ?? 'international' },
    ...{
      atGte: dateOf(body.at_gte),
      atLt: dateOf(body.at_lt),
      kind: body.kind ?? null,
      orderId: body.order_id ?? null,
      chainId: dossier?.chainId ?? body.chain_id ?? null,
    },
    ...{ createdAt: at, expiresAt: new Date(at.getTime() + EXPORT_KEPT_S * 1000) },
    ...{ lease: null, attempts: 0, rows: 0, rowsTotal: null, size: null, readyAt: null, failure: null, dossier },
  }
}

const dateOf = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text))

export const searchIn = ({ atGte, atLt, kind, orderId, chainId, through }: LedgerExport) => ({
  at_gte: atGte?.toISOString(),
  at_lt: atLt?.toISOString(),
  kind: kind ?? undefined,
  order_id: orderId ?? undefined,
  chain_id: chainId ?? undefined,
  through,
})

export const exportBody = (found: LedgerExport, publicUrl: string): ExportBody => ({
  object: 'export',
  id: found.id,
  status: found.status,
  format: found.format,
  form: found.form,
  at_gte: found.atGte?.toISOString() ?? null,
  at_lt: found.atLt?.toISOString() ?? null,
  kind: found.kind,
  order_id: found.orderId,
  chain_id: found.chainId,
  amount: found.dossier?.amount ? formatUsdc(BigInt(found.dossier.amount)) : null,
  payout_address: found.dossier?.payoutAddress ?? null,
  entries: found.dossier?.entries ?? null,
  through: found.through,
  rows: found.rows,
  rows_total: found.rowsTotal,
  size: found.size,
  failure: found.failure,
  file_url: found.status === 'ready' ? `${publicUrl}/api/v1/exports/${found.id}/file` : null,
  created_at: found.createdAt.toISOString(),
  ready_at: found.readyAt?.toISOString() ?? null,
  expires_at: found.expiresAt.toISOString(),
})

export const isDossier = (format: ExportFormat): format is DossierFormat => DOSSIER_FORMATS.some(one => one === format)

export const fileNameOf = (one: LedgerExport): string =>
  isDossier(one.format) ? `dossier-${one.id}.${one.format.replace('dossier_', '')}` : `entries.${one.format}`
