import type { CreateExport, DossierKeys, Export, ExportList } from '../schemas.js'
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { callOperation, FILE_WAIT_MS } from './call.js'

/** Files of your ledger, made in the background: CSV, XLSX, JSON lines, OFX or an origin dossier. */
export interface Exports {
  /** Has a file made of what is booked now. Ask for it with `get` every few seconds until it is `ready` or `failed`. */
  create(body: CreateExport, options?: WriteOptions): Promise<Export>
  /** The progress of a file. */
  get(id: string, options?: RequestOptions): Promise<Export>
  /** Your files, newest first. */
  list(options?: RequestOptions): Promise<ExportList>
  /** The file itself, once it is `ready`; one that breaks off is an error. A file of many megabytes is better read from `file_url`, in parts. */
  file(id: string, options?: RequestOptions): Promise<Uint8Array>
  /** Public keys that this installation signs dossiers with, as a JWK Set. */
  dossierKeys(options?: RequestOptions): Promise<DossierKeys>
}

export const createExports = (send: Transport): Exports => ({
  create: (body, options) => callOperation(send, 'createExport', { body, ...options }),
  get: (id, options) => callOperation(send, 'getExport', { params: { id }, ...options }),
  list: options => callOperation(send, 'listExports', { ...options }),
  file: (id, options) => callOperation(send, 'downloadExport', { params: { id }, ...options, file: 'bytes', waitMs: FILE_WAIT_MS }),
  dossierKeys: options => callOperation(send, 'listDossierKeys', { ...options }),
})
