import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { api } from './api'
import { NewOrder } from './new-order'
import { orderStatusNames, searchFor } from './order-search'
import { OrderTable } from './order-table'
import { usePageTitle } from './page-title'
import { Pager, useFilters } from './parts/paging'
import { Empty, Failure, Heading, Loading } from './parts/states'
import { useWords } from './words'

const REFRESH_MS = 5_000

export function OrdersPage() {
  const { t } = useWords()
  usePageTitle(t.orders.title)
  const [, navigate] = useLocation()
  const [search, setSearch] = useSearchParams()
  const { filters, page, isFiltered, setFilter, clear } = useFilters(['status', 'q'])
  const query = { status: filters.status, ...searchFor(filters.q).query, ...page }
  const list = useQuery({
    queryKey: ['orders', query],
    queryFn: () => api.orders(query),
    refetchInterval: REFRESH_MS,
    placeholderData: previous => previous,
  })
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('q')).trim()
    const { orderId } = searchFor(text)
    if (orderId) navigate(`/orders/${orderId}`)
    else setFilter('q', text)
  }
  const close = () => setSearch(previous => withoutNew(previous), { replace: true })
  return (
    <>
      <Heading title={t.orders.title}>
        <Button onClick={() => setSearch({ new: '1' })}>{t.orders.fresh}</Button>
      </Heading>
      <NewOrder opened={search.has('new')} onClose={close} />
      <search>
        <form className="filters" onSubmit={look} key={filters.q}>
          <TextInput name="q" type="search" label={t.orders.search} placeholder={t.orders.searchHint} defaultValue={filters.q ?? ''} />
          <NativeSelect
            label={t.status}
            value={filters.status ?? ''}
            onChange={event => setFilter('status', event.currentTarget.value)}
            data={[{ value: '', label: t.all }, ...orderStatusNames.map(value => ({ value, label: t.orders.statuses[value] }))]}
          />
          {isFiltered && (
            <Button variant="subtle" onClick={clear}>
              {t.orders.clear}
            </Button>
          )}
        </form>
      </search>
      {list.error && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <section className="card">
          {list.data.data.length > 0 ? (
            <OrderTable orders={list.data.data} />
          ) : isFiltered ? (
            <Empty title={t.orders.nothing} text={t.orders.nothingText} />
          ) : (
            <Empty title={t.orders.empty} text={t.orders.emptyText}>
              <Button onClick={() => setSearch({ new: '1' })}>{t.orders.fresh}</Button>
            </Empty>
          )}
          <Pager list={list.data} />
        </section>
      )}
    </>
  )
}

function withoutNew(search: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(search)
  next.delete('new')
  return next
}
