import { once } from 'node:events'
import { createDeflateRaw } from 'node:zlib'
import { Zip, ZipPassThrough } from 'fflate'

/** The content of a cell: a text, or a number with the style that reads it. */
export type Cell = string | { value: number; style: Exclude<CellStyle, 'head'> } | null
const STYLES = ['head', 'count', 'usdc', 'brl', 'time'] as const
export type CellStyle = (typeof STYLES)[number]

const DAY_MS = 86_400_000
const FIRST_DAY = Date.UTC(1899, 11, 30)

/** A moment as the clock of a zone shows it: spreadsheets know no zones. */
export const timeCell = (clockMs: number): Cell => ({ value: (clockMs - FIRST_DAY) / DAY_MS, style: 'time' })

/** A sheet that is written as its rows come, of so many as there are: nothing but the row under way is in memory. Inline texts spare the table of all of them. */
export async function* xlsx(heads: readonly string[], pages: AsyncIterable<readonly (readonly Cell[])[]>): AsyncGenerator<Buffer> {
  const ready: Uint8Array[] = []
  const zip = new Zip((error, bytes) => {
    if (error) throw error
    ready.push(bytes)
  })
  const taken = () => Buffer.concat(ready.splice(0))
  const add = async (name: string, text: string) => {
    const part = new DeflatedPart(name)
    zip.add(part)
    await part.write(text)
    await part.end()
  }
  for (const [name, text] of Object.entries(PARTS)) await add(name, text)
  const sheet = new DeflatedPart('xl/worksheets/sheet1.xml')
  zip.add(sheet)
  await sheet.write(
    `${HEAD}<worksheet ${MAIN}><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews>` +
      `<cols><col min="1" max="${heads.length}" width="20" customWidth="1"/></cols><sheetData>`,
  )
  const names = heads.map((_, index) => columnName(index))
  await sheet.write(rowXml(1, names, heads, 'head'))
  let row = 1
  for await (const page of pages) {
    await sheet.write(
      page
        .map(cells => {
          row += 1
          return rowXml(row, names, cells)
        })
        .join(''),
    )
    yield taken()
  }
  await sheet.write('</sheetData></worksheet>')
  await sheet.end()
  zip.end()
  yield taken()
}

/** Compressed beside the event loop. */
class DeflatedPart extends ZipPassThrough {
  readonly #deflate = createDeflateRaw({ level: 4 })

  constructor(name: string) {
    super(name)
    this.compression = 8
    this.#deflate.on('data', (bytes: Buffer<ArrayBuffer>) => this.ondata(null, bytes, false))
  }

  protected override process(bytes: Uint8Array, final: boolean): void {
    if (final) this.#deflate.end()
    else this.#deflate.write(bytes)
  }

  async write(text: string): Promise<void> {
    this.push(Buffer.from(text))
    if (this.#deflate.writableNeedDrain) await once(this.#deflate, 'drain')
  }

  async end(): Promise<void> {
    this.push(new Uint8Array(0), true)
    await once(this.#deflate, 'end')
    this.ondata(null, new Uint8Array(0), true)
  }
}

function rowXml(row: number, names: readonly string[], cells: readonly Cell[], style?: 'head'): string {
  const xml = cells.map((cell, index) => (cell === null ? '' : cellXml(`${names[index]}${row}`, cell, style))).join('')
  return `<row r="${row}">${xml}</row>`
}

function cellXml(place: string, cell: Exclude<Cell, null>, style?: 'head'): string {
  if (typeof cell !== 'string') return `<c r="${place}" s="${STYLES.indexOf(cell.style) + 1}"><v>${cell.value}</v></c>`
  const styled = style === undefined ? '' : ` s="${STYLES.indexOf(style) + 1}"`
  return `<c r="${place}"${styled} t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no form for them
const NO_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g
export const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(NO_XML, '')
    .replace(/[&<>]/g, each => ENTITIES[each] ?? '')

const columnName = (index: number): string =>
  (index >= 26 ? columnName(Math.floor(index / 26) - 1) : '') + String.fromCharCode(65 + (index % 26))

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** Fonts 0 and 1 (bold), number forms from 164 on, and a style per kind of cell in the order of `STYLES`. */
const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml':
    `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/>` +
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/></Types>`,
  '_rels/.rels': `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `${HEAD}<workbook ${MAIN} xmlns:r="${OFFICE}"><sheets><sheet name="Ponte" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels':
    `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml':
    `${HEAD}<styleSheet ${MAIN}><numFmts count="3"><numFmt numFmtId="164" formatCode="#,##0.000000"/><numFmt numFmtId="165" formatCode="#,##0.00"/>` +
    `<numFmt numFmtId="166" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>` +
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="6"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>${[
      1, 164, 165, 166,
    ]
      .map(id => `<xf numFmtId="${id}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`)
      .join('')}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
}
