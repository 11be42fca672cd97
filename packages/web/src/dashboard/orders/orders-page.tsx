import { Button } from '@mantine/core'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Empty } from '../elements/states'
import { useNewInvoice } from '../forms/new-invoice'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { Download } from '../lists/download'
import { useFilters } from '../lists/filters'
import { ListCard, useList } from '../lists/paging'
import { useWords } from '../texts/words'
import { NewOrder } from './new-order'
import { ORDER_FILTERS, OrderFilters, orderQuery } from './order-filters'
import { OrderTable } from './order-table'
import { QuotedMoney } from './quoted-money'

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
        <Allowed to="createOrder">
          <Button onClick={form.open}>{t.orders.fresh}</Button>
        </Allowed>
      </Heading>
      <NewOrder {...form} />
      <OrderFilters {...choice} />
      {query.text !== undefined && <QuotedMoney text={query.text} />}
      <ListCard
        list={list}
        onClear={choice.isFiltered ? choice.clear : null}
        empty={
          <Empty title={t.orders.empty} text={t.orders.emptyText}>
            <Allowed to="createOrder">
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
