import { Button, NativeSelect } from '@mantine/core'
import type { SubscriptionBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'wouter'
import { shortened } from '../amounts'
import { api } from './api'
import { NewSubscription } from './new-subscription'
import { usePageTitle } from './page-title'
import { Pager, useFilters } from './parts/paging'
import { Badge, Empty, Failure, Heading, Loading } from './parts/states'
import { subscriptionTone } from './parts/tones'
import { useWords } from './words'

const STATUSES: readonly SubscriptionBody['status'][] = ['active', 'past_due', 'cancelled', 'expired']

/** `Monthly`, or `Monthly, every 3`, or when the merchant says so. */
export function useRhythm() {
  const { t } = useWords()
  return ({ interval, interval_count }: SubscriptionBody): string => {
    if (interval === null) return t.subscriptions.manual
    const name = t.subscriptions.intervals[interval]
    return interval_count === null || interval_count === 1 ? name : t.subscriptions.everyFew(interval_count, name)
  }
}

export function SubscriptionsPage() {
  const { t } = useWords()
  usePageTitle(t.subscriptions.title)
  const [search, setSearch] = useSearchParams()
  const { filters, page, isFiltered, setFilter, clear } = useFilters(['status'])
  const query = { ...filters, ...page }
  const list = useQuery({
    queryKey: ['subscriptions', query],
    queryFn: () => api.subscriptions(query),
    placeholderData: previous => previous,
  })
  const openForm = () => setSearch({ new: '1' })
  return (
    <>
      <Heading title={t.subscriptions.title}>
        <Button onClick={openForm}>{t.subscriptions.fresh}</Button>
      </Heading>
      <NewSubscription opened={search.has('new')} onClose={clear} />
      <div className="filters">
        <NativeSelect
          label={t.status}
          value={filters.status ?? ''}
          onChange={event => setFilter('status', event.currentTarget.value)}
          data={[{ value: '', label: t.all }, ...STATUSES.map(value => ({ value, label: t.subscriptions.statuses[value] }))]}
        />
      </div>
      {list.error && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <section className="card">
          {list.data.data.length > 0 ? (
            <SubscriptionTable subscriptions={list.data.data} />
          ) : isFiltered ? (
            <Empty title={t.orders.nothing} text={t.orders.nothingText} />
          ) : (
            <Empty title={t.subscriptions.empty} text={t.subscriptions.emptyText}>
              <Button onClick={openForm}>{t.subscriptions.fresh}</Button>
            </Empty>
          )}
          <Pager list={list.data} />
        </section>
      )}
    </>
  )
}

function SubscriptionTable({ subscriptions }: { subscriptions: readonly SubscriptionBody[] }) {
  const { t, brl, moment } = useWords()
  const rhythm = useRhythm()
  return (
    <table className="list">
      <thead>
        <tr>
          <th>{t.orders.reference}</th>
          <th>{t.status}</th>
          <th className="number">{t.orders.amount}</th>
          <th>{t.subscriptions.next}</th>
        </tr>
      </thead>
      <tbody>
        {subscriptions.map(subscription => (
          <tr key={subscription.id}>
            <td>
              <Link href={`/subscriptions/${subscription.id}`} className="row-link">
                {subscription.external_ref ?? subscription.description ?? shortened(subscription.id, 13)}
              </Link>
              <span className="faint">{rhythm(subscription)}</span>
            </td>
            <td>
              <Badge tone={subscriptionTone[subscription.status]}>{t.subscriptions.statuses[subscription.status]}</Badge>
            </td>
            <td className="number">
              {brl(subscription.brl_amount)}
              <span className="faint">
                {t.subscriptions.done}: {t.subscriptions.doneOf(subscription.charges_done, subscription.max_periods)}
              </span>
            </td>
            <td>{subscription.next_charge_at ? moment(subscription.next_charge_at) : t.none}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
