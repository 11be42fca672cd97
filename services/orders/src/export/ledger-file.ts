import type { DossierFormat, EntryBody, ExportFormat, FileForm } from '@ponte/contracts'
import { type CsvColumn, csvRows, csvStart } from '@ponte/service-kit'
import type { PayoutAccount } from '../ledger/entry'
import { brazilianColumns, internationalColumns } from './entries-csv'
import { sheetHeads, sheetRow } from './entries-xlsx'
import { movement, OFX_END, ofxStart, STATEMENTS_END, STATEMENTS_START, statementEnd, statementStart } from './ofx'
import { xlsx } from './xlsx'

export interface LedgerPages {
  entries(): AsyncIterable<readonly EntryBody[]>
  accounts(): Promise<readonly PayoutAccount[]>
  /** Its entries that reached or left a payout address. */
  movements(account: PayoutAccount): AsyncIterable<readonly EntryBody[]>
}

export interface FilePart {
  bytes: Buffer
  rows: number
}

/** A file of entries, in parts: a page is in memory at a time. */
export function ledgerFile(
  format: Exclude<ExportFormat, DossierFormat>,
  form: FileForm,
  pages: LedgerPages,
  at: Date,
): AsyncGenerator<FilePart> {
  if (format === 'csv') return csvFile(form, pages)
  if (format === 'xlsx') return sheetFile(form, pages)
  return format === 'jsonl' ? lineFile(pages) : ofxFile(pages, at)
}

const part = (text: string, rows = 0): FilePart => ({ bytes: Buffer.from(text), rows })

export const csvForm = (form: FileForm): { columns: readonly CsvColumn<EntryBody>[]; separator: ',' | ';' } =>
  form === 'brazilian' ? { columns: brazilianColumns, separator: ';' } : { columns: internationalColumns, separator: ',' }

async function* csvFile(form: FileForm, pages: LedgerPages): AsyncGenerator<FilePart> {
  const list = csvForm(form)
  yield part(csvStart(list))
  for await (const page of pages.entries()) yield part(csvRows(list, page), page.length)
}

async function* sheetFile(form: FileForm, pages: LedgerPages): AsyncGenerator<FilePart> {
  let rows = 0
  const cells = async function* () {
    for await (const page of pages.entries()) {
      rows += page.length
      yield page.map(entry => sheetRow(form, entry))
    }
  }
  for await (const bytes of xlsx(sheetHeads(form), cells())) {
    yield { bytes, rows }
    rows = 0
  }
}

async function* lineFile(pages: LedgerPages): AsyncGenerator<FilePart> {
  for await (const page of pages.entries()) yield part(page.map(entry => `${JSON.stringify(entry)}\n`).join(''), page.length)
}

async function* ofxFile(pages: LedgerPages, at: Date): AsyncGenerator<FilePart> {
  yield part(ofxStart(at))
  const accounts = await pages.accounts()
  if (accounts.length > 0) yield part(STATEMENTS_START)
  for (const account of accounts) {
    yield part(statementStart(account))
    for await (const page of pages.movements(account)) yield part(page.map(movement).join(''), page.length)
    yield part(statementEnd(account))
  }
  yield part(accounts.length > 0 ? `${STATEMENTS_END}${OFX_END}` : OFX_END)
}
