import { Button } from '@mantine/core'
import type { List } from '@ponte/contracts'
import { useSearchParams } from 'wouter'
import { useWords } from '../words'

/** The filters and the place in a list; they live in the address, so that going back goes back. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const [search, setSearch] = useSearchParams()
  const read = (name: string) => search.get(name) ?? undefined
  const filters = Object.fromEntries(names.map(name => [name, read(name)])) as Record<Name, string | undefined>
  return {
    filters,
    page: { starting_after: read('starting_after'), ending_before: read('ending_before') },
    isFiltered: names.some(name => read(name) !== undefined),
    /** Another filter is another list: it begins at its beginning. */
    setFilter: (name: Name, value: string | null) =>
      setSearch(previous => {
        const next = new URLSearchParams(previous)
        for (const gone of ['starting_after', 'ending_before', name]) next.delete(gone)
        if (value) next.set(name, value)
        return next
      }),
    clear: () => setSearch(new URLSearchParams()),
  }
}

/** Newer and older, by keyset: the first or last row of what is shown is where the next page begins. */
export function Pager({ list }: { list: List<{ id: string }> }) {
  const { t } = useWords()
  const [search, setSearch] = useSearchParams()
  const goesUp = search.has('ending_before')
  const hasNewer = goesUp ? list.has_more : search.has('starting_after')
  const hasOlder = goesUp || list.has_more
  const go = (cursor: 'starting_after' | 'ending_before', row: { id: string } | undefined) =>
    setSearch(previous => {
      const next = new URLSearchParams(previous)
      next.delete('starting_after')
      next.delete('ending_before')
      if (row) next.set(cursor, row.id)
      return next
    })
  if (!hasNewer && !hasOlder) return null
  return (
    <div className="pager">
      <Button variant="default" disabled={!hasNewer} onClick={() => go('ending_before', list.data[0])}>
        {t.newer}
      </Button>
      <Button variant="default" disabled={!hasOlder} onClick={() => go('starting_after', list.data.at(-1))}>
        {t.older}
      </Button>
    </div>
  )
}
