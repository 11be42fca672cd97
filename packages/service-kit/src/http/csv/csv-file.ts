import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { type CsvSeparator, csvLine } from './csv'

/** So many rows of a file of any length are in memory at a time. */
const PAGE = 500
/** Spreadsheets read a file without it as of their own code page. */
const BYTE_ORDER_MARK = '\ufeff'

export type CsvColumn<Row> = readonly [name: string, read: (row: Row) => string | null]
type Value = string | number | boolean | null | undefined | readonly string[]

/** Columns that are fields of what the list shows, by the same names. */
export const fieldColumns = <Name extends string>(names: readonly Name[]): CsvColumn<{ readonly [K in Name]?: Value }>[] =>
  names.map(name => [name, row => textOf(row[name])])

const textOf = (value: Value): string | null =>
  typeof value === 'object' && value !== null ? value.join(' ') : (value?.toString() ?? null)

export interface CsvPage<Row> {
  rows: readonly Row[]
  /** The last id that was looked at; undefined behind the last page. */
  next: string | undefined
}

/** A page of rows; a search for more of them that ended early goes on from where it did. */
export const csvPage = <Row extends { id: string }>(
  rows: readonly Row[],
  limit: number,
  searchedTo: string | null = null,
): CsvPage<Row> => ({
  rows,
  next: rows.length < limit ? (searchedTo ?? undefined) : rows.at(-1)?.id,
})

export interface CsvList<Row> {
  /** The list, as its path and its file are named. */
  name: string
  columns: readonly CsvColumn<Row>[]
  separator?: CsvSeparator
  page(place: { starting_after?: string }, limit: number): Promise<CsvPage<Row>>
}

/** All pages of a list as one file, written as fast as the caller reads it. A file that breaks off is no complete answer. */
export async function sendCsv<Row>(req: Request, res: Response, list: CsvList<Row>): Promise<void> {
  res.setHeader('Content-Type', 'text/csv; charset=utf-8')
  res.setHeader('Content-Disposition', `attachment; filename="${list.name}.csv"`)
  if (req.method === 'HEAD') return void res.end()
  await pipeline(linesOf(list), res).catch(error => {
    if (!isGone(error)) throw error
  })
}

export const isGone = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'

type Columns<Row> = Pick<CsvList<Row>, 'columns' | 'separator'>

export const csvStart = <Row>({ columns, separator }: Columns<Row>): string =>
  BYTE_ORDER_MARK +
  csvLine(
    columns.map(([name]) => name),
    separator,
  )

export const csvRows = <Row>({ columns, separator }: Columns<Row>, rows: readonly Row[]): string =>
  rows
    .map(row =>
      csvLine(
        columns.map(([, read]) => read(row)),
        separator,
      ),
    )
    .join('')

async function* linesOf<Row>(list: CsvList<Row>): AsyncGenerator<string> {
  yield csvStart(list)
  let place: string | undefined
  do {
    const { rows, next } = await list.page(place === undefined ? {} : { starting_after: place }, PAGE)
    yield csvRows(list, rows)
    place = next
  } while (place !== undefined)
}
