import { Button } from '@mantine/core'
import type { DeliveryBody } from '@ponte/contracts'
import { Link } from 'wouter'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Empty } from '../elements/states'
import { EndpointWarnings } from '../endpoints/endpoint-warnings'
import { useEndpointName, useEndpoints } from '../endpoints/use-endpoints'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { Download } from '../lists/download'
import { ChoiceFilter, useFilters } from '../lists/filters'
import { ListCard, useList } from '../lists/paging'
import { useWords } from '../texts/words'
import { DeliveryBadge } from './delivery-badge'
import { ReplayRange } from './replay-range'

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
  const { filters, page, isFiltered, setFilters, clear } = useFilters([
    'status',
    'event_type',
    'endpoint_id',
    'order_id',
    'subscription_id',
  ])
  const nameOf = useEndpointName()
  const endpoints = useEndpoints().data ?? []
  // Which of several an event went to; a single one needs no name.
  const names = Object.fromEntries(endpoints.length > 1 ? endpoints.map(endpoint => [endpoint.id, nameOf(endpoint)]) : [])
  const list = useList('deliveries', api.deliveries, { ...filters, ...page })
  return (
    <>
      <Heading title={t.deliveries.title}>
        <Allowed to="listWebhookEndpoints">
          <Link href="/deliveries/endpoints" className="action">
            {t.endpoints.title}
          </Link>
        </Allowed>
        <Download list="deliveries" query={filters} />
        <Allowed to="replayDeliveries">
          <ReplayRange onDone={() => void list.refetch()} />
        </Allowed>
      </Heading>
      <p className="lead">{t.deliveries.lead}</p>
      <EndpointWarnings />
      <div className="filters">
        <ChoiceFilter
          label={t.status}
          value={filters.status}
          choices={t.deliveries.statuses}
          onChoose={value => setFilters({ status: value })}
        />
        <ChoiceFilter
          label={t.deliveries.event}
          value={filters.event_type}
          choices={t.deliveries.types}
          onChoose={value => setFilters({ event_type: value })}
        />
        {endpoints.length > 1 && (
          <ChoiceFilter
            label={t.endpoints.filter}
            value={filters.endpoint_id}
            choices={names}
            onChoose={value => setFilters({ endpoint_id: value })}
          />
        )}
      </div>
      <ListCard
        list={list}
        onClear={isFiltered ? clear : null}
        empty={
          <Empty title={t.deliveries.empty} text={t.deliveries.emptyText}>
            <Allowed to="createOrder">
              <Button component={Link} href="/developers">
                {t.developers.send}
              </Button>
            </Allowed>
          </Empty>
        }
      >
        {deliveries => <DeliveryTable deliveries={deliveries} names={names} />}
      </ListCard>
    </>
  )
}

function DeliveryTable({ deliveries, names }: { deliveries: readonly DeliveryBody[]; names: Readonly<Record<string, string>> }) {
  const { t, moment } = useWords()
  const faultOf = useFault()
  return (
    <table className="list errors">
      <thead>
        <tr>
          <th>{t.deliveries.event}</th>
          <th>{t.status}</th>
          <th>{t.deliveries.lastError}</th>
          <th>{t.deliveries.created}</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map(delivery => (
          <tr key={delivery.id}>
            <td>
              <Link href={`/deliveries/${delivery.id}`} className="row-link">
                {t.deliveries.types[delivery.event_type]}
              </Link>
              <span className="faint">
                <span className="mono">{delivery.event_type}</span>
                {names[delivery.endpoint_id] && ` · ${names[delivery.endpoint_id]}`}
              </span>
            </td>
            <td>
              <DeliveryBadge delivery={delivery} />
              <span className="faint">{t.orders.at.attempts(delivery.attempts)}</span>
            </td>
            <td>
              {delivery.status === 'delivered' ? null : faultOf(delivery)}
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
