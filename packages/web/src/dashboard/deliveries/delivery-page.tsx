import { Button } from '@mantine/core'
import type { DeliveryDetailBody } from '@ponte/contracts'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Card, Columns } from '../elements/card'
import { CodeBlock } from '../elements/copy'
import { Facts, idFact, linkFact } from '../elements/facts'
import { Failure } from '../elements/states'
import { Timeline, TimelineEntry } from '../elements/timeline'
import { useEndpointName, useEndpoints } from '../endpoints/use-endpoints'
import { Back, Heading } from '../frame/heading'
import { NotYet } from '../frame/missing'
import { usePageTitle } from '../frame/page-title'
import { useWords } from '../texts/words'
import { useFault } from './deliveries-page'
import { DeliveryBadge } from './delivery-badge'

const REFRESH_MS = 2_000

export function DeliveryPage({ id }: { id: string }) {
  const { t } = useWords()
  const [, navigate] = useLocation()
  const found = useQuery({ queryKey: ['delivery', id], queryFn: () => api.delivery(id), refetchInterval: REFRESH_MS })
  const replay = useMutation({ mutationFn: () => api.replay(id), onSuccess: fresh => navigate(`/deliveries/${fresh.id}`) })
  const delivery = found.data
  const title = delivery ? t.deliveries.types[delivery.event_type] : t.deliveries.title
  usePageTitle(title)
  const back = <Back to="/deliveries" title={t.deliveries.title} />
  if (!delivery) return <NotYet of={found} back={back} missing={t.missing.delivery} />
  return (
    <>
      {back}
      <Heading title={title}>
        <Allowed to="replayDelivery">
          <Button loading={replay.isPending} onClick={() => replay.mutate()}>
            {t.deliveries.replay}
          </Button>
        </Allowed>
      </Heading>
      {replay.error && <Failure error={replay.error} />}
      <Now delivery={delivery} />
      <Columns>
        <Card title={t.deliveries.attempts}>
          <Attempts delivery={delivery} />
        </Card>
        <div>
          <Card title={t.deliveries.body}>
            <CodeBlock text={delivery.body} label={t.deliveries.body} />
          </Card>
          <Card title={t.orders.details}>
            <Details delivery={delivery} />
          </Card>
        </div>
      </Columns>
    </>
  )
}

function Now({ delivery }: { delivery: DeliveryDetailBody }) {
  const { t, exactMoment } = useWords()
  const faultOf = useFault()
  const fault = delivery.status === 'delivered' ? null : faultOf(delivery)
  return (
    <Card>
      <p className="badges">
        <DeliveryBadge delivery={delivery} /> <span>{t.orders.at.attempts(delivery.attempts)}</span>
        {delivery.next_attempt_at && (
          <span className="faint">
            {t.deliveries.nextAttempt}: {exactMoment(delivery.next_attempt_at)}
          </span>
        )}
      </p>
      {fault && <p className="warning">{fault}</p>}
      {delivery.dead_reason && delivery.last_error_code && <p className="warning">{t.deliveries.dead[delivery.dead_reason]}</p>}
    </Card>
  )
}

function Details({ delivery }: { delivery: DeliveryDetailBody }) {
  const { t, exactMoment } = useWords()
  const nameOf = useEndpointName()
  const endpoint = useEndpoints().data?.find(each => each.id === delivery.endpoint_id)
  const { id, event_type, created_at, delivered_at, replay_of, order_id, subscription_id } = delivery
  return (
    <Facts
      rows={[
        [t.deliveries.event, <code key="event">{event_type}</code>],
        [t.deliveries.created, exactMoment(created_at)],
        idFact(id),
        endpoint && [t.endpoints.filter, nameOf(endpoint)],
        delivery.url && [t.endpoints.url, <code key="url">{delivery.url}</code>],
        order_id && linkFact(t.endpoints.order, '/orders', order_id),
        subscription_id && linkFact(t.endpoints.subscription, '/subscriptions', subscription_id),
        delivered_at && [t.deliveries.delivered, exactMoment(delivered_at)],
        replay_of && linkFact(t.deliveries.replayOf, '/deliveries', replay_of),
      ]}
    />
  )
}

function Attempts({ delivery }: { delivery: DeliveryDetailBody }) {
  const { t, exactMoment } = useWords()
  if (delivery.attempt_log.length === 0) return <p className="faint">{t.deliveries.noAttempts}</p>
  return (
    <Timeline>
      {delivery.attempt_log.map(attempt => (
        <TimelineEntry
          key={attempt.ordinal}
          tone={attempt.outcome === 'delivered' ? 'good' : 'bad'}
          title={
            <>
              {t.deliveries.attempt(attempt.ordinal)}
              {attempt.http_status !== null && <code>HTTP {attempt.http_status}</code>}
            </>
          }
        >
          {attempt.url && (
            <details>
              <summary>{t.endpoints.sentHeaders}</summary>
              <CodeBlock
                text={[`POST ${attempt.url}`, ...Object.entries(attempt.request_headers).map(([name, value]) => `${name}: ${value}`)].join(
                  '\n',
                )}
                label={t.endpoints.sentHeaders}
              />
            </details>
          )}
          {attempt.error_code && <p>{t.deliveries.errors[attempt.error_code]}</p>}
          {attempt.response_snippet && <CodeBlock text={attempt.response_snippet} label={t.deliveries.answer} />}
          <p className="faint">
            <time dateTime={attempt.started_at}>{exactMoment(attempt.started_at)}</time>, {t.deliveries.took(attempt.duration_ms)}
          </p>
        </TimelineEntry>
      ))}
    </Timeline>
  )
}
