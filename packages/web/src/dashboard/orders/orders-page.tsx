import { Button } from '@mantine/core'
import { Allowed, api } from '../api'
import { Empty } from '../elements'
import { useNewInvoice } from '../forms'
import { Heading, usePageTitle } from '../frame'
import { Download, ListCard, useFilters, useList } from '../lists'
import { useWords } from '../texts'
import { NewOrder } from './new-order'
import { ORDER_FILTERS, OrderFilters, orderQuery } from './order-filters'
import { OrderTable } from './order-table'

export function OrdersPage() {
  const { t } = useWords()
  usePageTitle(t.orders.title)
  const form = useNewInvoice()
  const choice = useFilters(ORDER_FILTERS)
  const query = orderQuery(choice.filters)
  const list = useList('orders', api.orders, { ...query, ...choice.page })
  return (
    <>
      <Heading title={t.orders.title}>
        <Download list="orders" query={query} />
        <Allowed to="orders:write">
          <Button onClick={form.open}>{t.orders.fresh}</Button>
        </Allowed>
      </Heading>
      <NewOrder {...form} />
      <OrderFilters {...choice} />
      <ListCard
        list={list}
        onClear={choice.isFiltered ? choice.clear : null}
        empty={
          <Empty title={t.orders.empty} text={t.orders.emptyText}>
            <Allowed to="orders:write">
              <Button variant="light" onClick={form.open}>
                {t.orders.fresh}
              </Button>
            </Allowed>
          </Empty>
        }
      >
        {orders => <OrderTable orders={orders} isByPayment={choice.filters.by === 'paid'} />}
      </ListCard>
    </>
  )
}
