import { Button, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { useLocation } from 'wouter'
import { api } from '../api'
import { Empty } from '../elements'
import { useNewInvoice } from '../forms'
import { Heading, usePageTitle } from '../frame'
import { ChoiceFilter, ListCard, useFilters, useList } from '../lists'
import { useWords } from '../texts'
import { NewOrder } from './new-order'
import { searchFor } from './order-search'
import { OrderTable } from './order-table'

export function OrdersPage() {
  const { t } = useWords()
  usePageTitle(t.orders.title)
  const [, navigate] = useLocation()
  const form = useNewInvoice()
  const { filters, page, isFiltered, setFilter, clear } = useFilters(['status', 'exception', 'q'])
  const list = useList('orders', api.orders, {
    status: filters.status,
    exception: filters.exception,
    ...searchFor(filters.q).query,
    ...page,
  })
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('q')).trim()
    const { orderId } = searchFor(text)
    if (orderId) navigate(`/orders/${orderId}`)
    else setFilter('q', text)
  }
  const newOrder = <Button onClick={form.open}>{t.orders.fresh}</Button>
  return (
    <>
      <Heading title={t.orders.title}>{newOrder}</Heading>
      <NewOrder {...form} />
      <search>
        <form className="filters" onSubmit={look} key={filters.q}>
          <TextInput name="q" type="search" label={t.orders.search} placeholder={t.orders.searchHint} defaultValue={filters.q ?? ''} />
          <ChoiceFilter
            label={t.status}
            value={filters.status}
            choices={t.orders.statuses}
            onChoose={value => setFilter('status', value)}
          />
          <ChoiceFilter
            label={t.orders.exception}
            value={filters.exception}
            choices={t.orders.exceptions}
            onChoose={value => setFilter('exception', value)}
          />
        </form>
      </search>
      <ListCard
        list={list}
        onClear={isFiltered ? clear : null}
        empty={
          <Empty title={t.orders.empty} text={t.orders.emptyText}>
            {newOrder}
          </Empty>
        }
      >
        {orders => <OrderTable orders={orders} />}
      </ListCard>
    </>
  )
}
