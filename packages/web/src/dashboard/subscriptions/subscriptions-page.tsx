import { Button } from '@mantine/core'
import type { SubscriptionBody } from '@ponte/contracts'
import { Link } from 'wouter'
import { shortened } from '../../amounts'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Empty } from '../elements/states'
import { useNewInvoice } from '../forms/new-invoice'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { Download } from '../lists/download'
import { ChoiceFilter, useFilters } from '../lists/filters'
import { ListCard, useList } from '../lists/paging'
import { useWords } from '../texts/words'
import { NewSubscription } from './new-subscription'
import { SubscriptionBadge } from './subscription-badge'

/** `Monthly`, or `Every 3 months`, or when the merchant asks for it. */
export function useRhythm() {
  const { t } = useWords()
  return ({ interval, interval_count }: SubscriptionBody): string => {
    if (interval === null) return t.subscriptions.manual
    return interval_count === null || interval_count === 1
      ? t.subscriptions.intervals[interval]
      : t.subscriptions.everyFew(interval_count, interval)
  }
}

export function SubscriptionsPage() {
  const { t } = useWords()
  usePageTitle(t.subscriptions.title)
  const form = useNewInvoice()
  const { filters, page, isFiltered, setFilters, clear } = useFilters(['status'])
  const list = useList('subscriptions', api.subscriptions, { ...filters, ...page })
  return (
    <>
      <Heading title={t.subscriptions.title}>
        <Download list="subscriptions" query={filters} />
        <Allowed to="createSubscription">
          <Button onClick={form.open}>{t.subscriptions.fresh}</Button>
        </Allowed>
      </Heading>
      <NewSubscription {...form} />
      <div className="filters">
        <ChoiceFilter
          label={t.status}
          value={filters.status}
          choices={t.subscriptions.statuses}
          onChoose={value => setFilters({ status: value })}
        />
      </div>
      <ListCard
        list={list}
        onClear={isFiltered ? clear : null}
        empty={
          <Empty title={t.subscriptions.empty} text={t.subscriptions.emptyText}>
            <Allowed to="createSubscription">
              <Button variant="light" onClick={form.open}>
                {t.subscriptions.fresh}
              </Button>
            </Allowed>
          </Empty>
        }
      >
        {subscriptions => <SubscriptionTable subscriptions={subscriptions} />}
      </ListCard>
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
              <SubscriptionBadge status={subscription.status} />
            </td>
            <td className="number">
              {brl(subscription.brl_amount)}
              <span className="faint">
                {t.subscriptions.done}: {t.subscriptions.doneOf(subscription.charges_done, subscription.max_periods)}
              </span>
            </td>
            <td data-label={t.subscriptions.next}>
              {subscription.next_charge_at ? moment(subscription.next_charge_at, subscription.timezone) : t.none}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
