import { Button, NativeSelect } from '@mantine/core'
import type { List } from '@ponte/contracts'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { useSearchParams } from 'wouter'
import type { Query } from '../api'
import { Card, Empty, Failure, Loading } from '../elements'
import { useWords } from '../texts'
import './list.css'

const REFRESH_MS = 4_000
const CURSORS = ['starting_after', 'ending_before']

/** The filters and the place in a list; they live in the address, so that going back goes back. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const [search, setSearch] = useSearchParams()
  const read = (name: string) => search.get(name) ?? undefined
  return {
    filters: Object.fromEntries(names.map(name => [name, read(name)])) as Record<Name, string | undefined>,
    page: { starting_after: read('starting_after'), ending_before: read('ending_before') },
    isFiltered: names.some(name => read(name) !== undefined),
    /** Another filter is another list: it begins at its beginning. */
    setFilter: (name: Name, value: string | null) => setSearch(previous => changed(previous, name, value)),
    clear: () => setSearch({}),
  }
}

/** An address with another filter or another place; whatever place was in it is gone. */
function changed(search: URLSearchParams, name: string, value: string | null | undefined): URLSearchParams {
  const next = new URLSearchParams(search)
  for (const gone of [...CURSORS, name]) next.delete(gone)
  if (value) next.set(name, value)
  return next
}

export function ChoiceFilter(of: {
  label: string
  value: string | undefined
  choices: Record<string, string>
  onChoose(value: string): void
}) {
  const { t } = useWords()
  return (
    <NativeSelect
      label={of.label}
      value={of.value ?? ''}
      onChange={event => of.onChoose(event.currentTarget.value)}
      data={[{ value: '', label: t.all }, ...Object.entries(of.choices).map(([value, label]) => ({ value, label }))]}
    />
  )
}

/** One page of a list, looked at again every few seconds. The page before stays until the next one is there. */
export function useList<Row>(name: string, ask: (query: Query) => Promise<List<Row>>, query: Query) {
  return useQuery({
    queryKey: [name, query],
    queryFn: () => ask(query),
    refetchInterval: REFRESH_MS,
    placeholderData: previous => previous,
  })
}

/** A list in whatever state it is: loading, failed, empty (and why), or its rows with the way to older and newer ones. */
export function ListCard<Row extends { id: string }>(of: {
  list: UseQueryResult<List<Row>>
  /** What clears the filters, when there are any. */
  onClear: (() => void) | null
  empty: ReactNode
  children(rows: readonly Row[]): ReactNode
}) {
  const { t } = useWords()
  const { data, error, isPending, isPlaceholderData, refetch } = of.list
  const card = usePageArrival(data !== undefined && !isPlaceholderData)
  return (
    <>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {isPending && <Loading />}
      {data && (
        <Card ref={card}>
          {data.data.length > 0 ? (
            of.children(data.data)
          ) : of.onClear ? (
            <Empty title={t.nothing} text={t.nothingText}>
              <Button variant="default" onClick={of.onClear}>
                {t.clear}
              </Button>
            </Empty>
          ) : (
            of.empty
          )}
          <Pager list={data} isWaiting={isPlaceholderData} />
        </Card>
      )}
    </>
  )
}

/** Another page of a list is read from its first row: it is scrolled there, with the focus. */
function usePageArrival(isThere: boolean) {
  const [search] = useSearchParams()
  const place = CURSORS.map(name => search.get(name)).join()
  const shown = useRef(place)
  const card = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!isThere || shown.current === place) return
    shown.current = place
    card.current?.focus({ preventScroll: true })
    card.current?.scrollIntoView({ block: 'start' })
  }, [isThere, place])
  return card
}

/** Newer and older, by keyset: the first or last row of what is shown is where the next page begins. */
function Pager({ list, isWaiting }: { list: List<{ id: string }>; isWaiting: boolean }) {
  const { t } = useWords()
  const [search, setSearch] = useSearchParams()
  const goesUp = search.has('ending_before')
  const hasNewer = goesUp ? list.has_more : search.has('starting_after')
  const hasOlder = goesUp || list.has_more
  const go = (cursor: string, row: { id: string } | undefined) => setSearch(previous => changed(previous, cursor, row?.id))
  if (!hasNewer && !hasOlder) return null
  return (
    <div className="pager">
      <Button variant="default" disabled={!hasNewer || isWaiting} onClick={() => go('ending_before', list.data[0])}>
        {t.newer}
      </Button>
      <Button variant="default" disabled={!hasOlder || isWaiting} onClick={() => go('starting_after', list.data.at(-1))}>
        {t.older}
      </Button>
    </div>
  )
}
