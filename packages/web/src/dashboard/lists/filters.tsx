import { NativeSelect, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useWords } from '../texts/words'

export const CURSORS = ['starting_after', 'ending_before']

/** The filters and the place in a list; they live in the address, so that going back goes back. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const [search, setSearch] = useSearchParams()
  const read = (name: string) => search.get(name) ?? undefined
  const setFilters = (changes: Partial<Record<Name, string | null>>) => setSearch(previous => changed(previous, changes))
  return {
    filters: Object.fromEntries(names.map(name => [name, read(name)])) as Record<Name, string | undefined>,
    page: { starting_after: read('starting_after'), ending_before: read('ending_before') },
    isFiltered: names.some(name => read(name) !== undefined),
    setFilters,
    clear: () => setSearch({}),
  }
}
export type Filters<Name extends string> = Pick<ReturnType<typeof useFilters<Name>>, 'filters' | 'setFilters'>

/** An address with other filters or another place; whatever place was in it is gone, because another filter is another list. */
export function changed(search: URLSearchParams, changes: Record<string, string | null | undefined>): URLSearchParams {
  const next = new URLSearchParams(search)
  for (const gone of [...CURSORS, ...Object.keys(changes)]) next.delete(gone)
  for (const [name, value] of Object.entries(changes)) if (value) next.set(name, value)
  return next
}

export function ChoiceFilter<Choice extends string>(of: {
  label: string
  value: string | undefined
  choices: Partial<Record<Choice, string>>
  /** Label of no choice. */
  none?: string
  onChoose(value: Choice | ''): void
}) {
  const { t } = useWords()
  const isChoice = (value: string): value is Choice => value in of.choices
  return (
    <NativeSelect
      label={of.label}
      value={of.value ?? ''}
      onChange={({ currentTarget: { value } }) => of.onChoose(isChoice(value) ? value : '')}
      data={[
        { value: '', label: of.none ?? t.all },
        ...Object.entries<string | undefined>(of.choices).map(([value, label = value]) => ({ value, label })),
      ]}
    />
  )
}

/** Earlier years are those that someone is still typing. */
const FIRST_DAY = '2000-01-01'

export function DateFilter(of: { label: string; value: string | undefined; onChoose(value: string): void }) {
  const [typed, setTyped] = useState(of.value ?? '')
  useEffect(() => setTyped(of.value ?? ''), [of.value])
  const type = (value: string) => {
    setTyped(value)
    if (value === '' || value >= FIRST_DAY) of.onChoose(value)
  }
  return <TextInput type="date" label={of.label} value={typed} max="2999-12-31" onChange={event => type(event.currentTarget.value)} />
}

/** The instant at which a civil day of this browser's time zone begins, or the one so many days later; undefined for what is no day. */
export function startOfDay(day: string | undefined, later = 0): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '') ?? []
  return year && year >= '2000' && year < '2999' ? new Date(Number(year), Number(month) - 1, Number(date) + later).toISOString() : undefined
}
