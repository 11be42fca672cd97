import { Button, NativeSelect } from '@mantine/core'
import type { DeliveryBody, DeliveryStatus, WebhookType } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api } from './api'
import { usePageTitle } from './page-title'
import { DeliveryBadge } from './parts/delivery-badge'
import { Pager, useFilters } from './parts/paging'
import { Empty, Failure, Heading, Loading } from './parts/states'
import { ReplayRange } from './replay-range'
import { useWords } from './words'

const REFRESH_MS = 3_000
const STATUSES: readonly DeliveryStatus[] = ['pending', 'in_flight', 'delivered', 'dead']

/** What went wrong last, in words. */
export function useFault() {
  const { t } = useWords()
  return (of: Pick<DeliveryBody, 'last_error_code' | 'last_http_status' | 'dead_reason'>): string | null => {
    const status = of.last_http_status === null ? '' : ` (${of.last_http_status})`
    if (of.last_error_code) return `${t.deliveries.errors[of.last_error_code]}${of.last_error_code === 'http_status' ? status : ''}`
    return of.dead_reason && t.deliveries.dead[of.dead_reason]
  }
}

export function DeliveriesPage() {
  const { t } = useWords()
  usePageTitle(t.deliveries.title)
  const [replaying, setReplaying] = useState(false)
  const { filters, page, isFiltered, setFilter, clear } = useFilters(['status', 'event_type'])
  const query = { ...filters, ...page }
  const list = useQuery({
    queryKey: ['deliveries', query],
    queryFn: () => api.deliveries(query),
    refetchInterval: REFRESH_MS,
    placeholderData: previous => previous,
  })
  const types = Object.keys(t.deliveries.types) as WebhookType[]
  return (
    <>
      <Heading title={t.deliveries.title}>
        <Button variant="default" onClick={() => setReplaying(true)}>
          {t.deliveries.replayRange}
        </Button>
      </Heading>
      <p className="lead">{t.deliveries.lead}</p>
      <ReplayRange opened={replaying} onClose={() => setReplaying(false)} onDone={() => void list.refetch()} />
      <div className="filters">
        <NativeSelect
          label={t.status}
          value={filters.status ?? ''}
          onChange={event => setFilter('status', event.currentTarget.value)}
          data={[{ value: '', label: t.all }, ...STATUSES.map(value => ({ value, label: t.deliveries.statuses[value] }))]}
        />
        <NativeSelect
          label={t.deliveries.event}
          value={filters.event_type ?? ''}
          onChange={event => setFilter('event_type', event.currentTarget.value)}
          data={[{ value: '', label: t.all }, ...types.map(value => ({ value, label: value }))]}
        />
        {isFiltered && (
          <Button variant="subtle" onClick={clear}>
            {t.orders.clear}
          </Button>
        )}
      </div>
      {list.error && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <section className="card">
          {list.data.data.length > 0 ? (
            <DeliveryTable deliveries={list.data.data} />
          ) : isFiltered ? (
            <Empty title={t.orders.nothing} text={t.orders.nothingText} />
          ) : (
            <Empty title={t.deliveries.empty} text={t.deliveries.emptyText} />
          )}
          <Pager list={list.data} />
        </section>
      )}
    </>
  )
}

function DeliveryTable({ deliveries }: { deliveries: readonly DeliveryBody[] }) {
  const { t, moment } = useWords()
  const faultOf = useFault()
  return (
    <table className="list">
      <thead>
        <tr>
          <th>{t.deliveries.event}</th>
          <th>{t.status}</th>
          <th>{t.deliveries.lastError}</th>
          <th>{t.created}</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map(delivery => (
          <tr key={delivery.id}>
            <td>
              <Link href={`/deliveries/${delivery.id}`} className="row-link">
                {t.deliveries.types[delivery.event_type]}
              </Link>
              <span className="faint mono">{delivery.event_type}</span>
            </td>
            <td>
              <DeliveryBadge delivery={delivery} />
              <span className="faint">{t.orders.at.attempts(delivery.attempts)}</span>
            </td>
            <td>
              {(delivery.status === 'delivered' ? null : faultOf(delivery)) ?? t.none}
              {delivery.next_attempt_at && delivery.attempts > 0 && (
                <span className="faint">
                  {t.deliveries.nextAttempt}: {moment(delivery.next_attempt_at)}
                </span>
              )}
            </td>
            <td>{moment(delivery.created_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
