import type { EntryBody, FileForm } from '@ponte/contracts'
import type { CsvColumn } from '@ponte/service-kit'
import { brazilianDay, type EntryColumn, entryColumns, localTime } from './entry-columns'

type Written = (value: string) => string
const asIs: Written = value => value
const decimal: Written = amount => amount.replace('.', ',')

const BRAZILIAN: Record<EntryColumn['as'], Written> = {
  ...{ count: asIs, text: asIs, usdc: decimal, brl: decimal },
  ...{ time: localTime, day: brazilianDay },
}

const columnsOf = (form: FileForm, written: (as: EntryColumn['as']) => Written): readonly CsvColumn<EntryBody>[] =>
  entryColumns[form].map(({ head, as, read }) => {
    const write = written(as)
    return [
      head,
      entry => {
        const value = read(entry)
        return value === null ? null : write(String(value))
      },
    ]
  })

export const internationalColumns = columnsOf('international', () => asIs)

/** As a spreadsheet in Brazil reads it: decimal commas, the times of São Paulo, and heads that an accountant knows. */
export const brazilianColumns = columnsOf('brazilian', as => BRAZILIAN[as])
