import { Button } from '@mantine/core'
import type { List } from '@ponte/contracts'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { useSearchParams } from 'wouter'
import type { Query } from '../api/api'
import { Card } from '../elements/card'
import { Empty, Failure, Loading } from '../elements/states'
import { useWords } from '../texts/words'
import { CURSORS, changed } from './filters'
import './list.css'

const REFRESH_MS = 4_000

/** A page of a list; where the search for more rows ended early, it goes on from `searched_to`. */
type Page<Row> = List<Row> & { searched_to?: string | undefined }

/** One page of a list, looked at again every few seconds. The page before stays until the next one is there. */
export function useList<Row>(name: string, ask: (query: Query) => Promise<Page<Row>>, query: Query, refreshMs = REFRESH_MS) {
  return useQuery({
    queryKey: [name, query],
    queryFn: () => ask(query),
    refetchInterval: refreshMs,
    placeholderData: previous => previous,
  })
}

/** A list in whatever state it is: loading, failed, empty (and why), or its rows with the way to older and newer ones. */
export function ListCard<Row extends { id: string }>(of: {
  list: UseQueryResult<Page<Row>>
  /** Clears the filters, when there are any. */
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
          ) : data.searched_to ? (
            <Empty title={t.lists.searching} text={t.lists.searchingText} />
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
function Pager({ list, isWaiting }: { list: Page<{ id: string }>; isWaiting: boolean }) {
  const { t } = useWords()
  const [search, setSearch] = useSearchParams()
  const goesUp = search.has('ending_before')
  const hasNewer = goesUp ? list.has_more : search.has('starting_after')
  const hasOlder = goesUp || list.has_more
  const go = (cursor: string, id: string | undefined) => setSearch(previous => changed(previous, { [cursor]: id ?? null }))
  const ends = { newer: list.data[0]?.id, older: list.data.at(-1)?.id }
  const end = list.searched_to
  if (!hasNewer && !hasOlder) return null
  return (
    <div className="pager">
      <Button variant="default" disabled={!hasNewer || isWaiting} onClick={() => go('ending_before', goesUp && end ? end : ends.newer)}>
        {t.newer}
      </Button>
      <Button variant="default" disabled={!hasOlder || isWaiting} onClick={() => go('starting_after', !goesUp && end ? end : ends.older)}>
        {t.older}
      </Button>
    </div>
  )
}
