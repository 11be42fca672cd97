import type { EntryBody, FileForm } from '@ponte/contracts'
import { guardedText } from '@ponte/service-kit'
import { brazilianDay, type EntryColumn, entryColumns, localClock } from './entry-columns'
import { type Cell, timeCell } from './xlsx'

/** Amounts are numbers and times are dates: of UTC, or of São Paulo in the Brazilian form. */
function cellOf(form: FileForm, as: EntryColumn['as'], value: string | number | null): Cell {
  if (value === null) return null
  const text = String(value)
  if (as === 'time') return timeCell(form === 'brazilian' ? localClock(text) : Date.parse(text))
  if (as === 'day') return form === 'brazilian' ? brazilianDay(text) : text
  return as === 'text' ? guardedText(text) : { value: Number(value), style: as }
}

export const sheetHeads = (form: FileForm): string[] => entryColumns[form].map(({ head }) => head)
export const sheetRow = (form: FileForm, entry: EntryBody): Cell[] =>
  entryColumns[form].map(({ as, read }) => cellOf(form, as, read(entry)))
