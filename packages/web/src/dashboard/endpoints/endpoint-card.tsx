import { Button } from '@mantine/core'
import type { WebhookEndpointBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Badge } from '../elements/badge'
import { Card } from '../elements/card'
import { CopyValue } from '../elements/copy'
import { Facts } from '../elements/facts'
import { Failure } from '../elements/states'
import { Confirmed } from '../forms/confirmed'
import { DialogButton } from '../forms/dialog-button'
import { useWords } from '../texts/words'
import { EndpointForm } from './endpoint-form'
import { useEndpointName, useEndpointsChanged } from './use-endpoints'

export function EndpointCard({ endpoint }: { endpoint: WebhookEndpointBody }) {
  const { t, moment } = useWords()
  const nameOf = useEndpointName()
  const changed = useEndpointsChanged()
  const pause = useMutation({ mutationFn: () => api.updateEndpoint(endpoint.id, { paused: !endpoint.paused }), onSuccess: changed })
  const test = useMutation({ mutationFn: () => api.testEndpoint(endpoint.id) })
  const error = pause.error ?? test.error
  const { failing_since: since } = endpoint
  return (
    <Card title={nameOf(endpoint)} className="endpoint">
      <p className="badges">
        {endpoint.paused ? (
          <Badge tone="calm">{t.endpoints.paused}</Badge>
        ) : (
          <Badge tone={since ? 'warn' : 'good'}>{since ? t.endpoints.failing : t.endpoints.active}</Badge>
        )}
        {since && <span className="faint">{t.endpoints.failingSince(moment(since))}</span>}
      </p>
      {endpoint.warnings && <p className="warning">{t.endpoints.internal}</p>}
      <Details endpoint={endpoint} />
      <Allowed to="rotateEndpointSecret">
        <Secret endpoint={endpoint} />
      </Allowed>
      {error && <Failure error={error} />}
      <div className="buttons">
        <Allowed to="updateWebhookEndpoint">
          <DialogButton variant="default" title={t.endpoints.change}>
            {close => <EndpointForm endpoint={endpoint} onDone={close} />}
          </DialogButton>
          <Button variant="default" loading={pause.isPending} onClick={() => pause.mutate()}>
            {endpoint.paused ? t.endpoints.resume : t.endpoints.pause}
          </Button>
        </Allowed>
        {!endpoint.paused && (
          <Allowed to="testWebhookEndpoint">
            <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
              {t.endpoints.test}
            </Button>
          </Allowed>
        )}
        <Allowed to="deleteWebhookEndpoint">
          <Confirmed
            action={t.endpoints.remove}
            question={t.endpoints.removeSure}
            work={() => api.removeEndpoint(endpoint.id)}
            onDone={changed}
          />
        </Allowed>
        <span role="status">
          {test.data && (
            <Link href={`/deliveries/${test.data.id}`} className="done">
              {t.endpoints.tested}
            </Link>
          )}
        </span>
      </div>
    </Card>
  )
}

function Details({ endpoint }: { endpoint: WebhookEndpointBody }) {
  const { t } = useWords()
  const known: Record<string, string> = t.deliveries.types
  const { url, events, format, header_names: headers, max_in_flight: limit } = endpoint
  return (
    <Facts
      rows={[
        [t.endpoints.url, <code key="url">{url}</code>],
        [t.endpoints.events, events.includes('*') ? t.endpoints.allEvents : events.map(type => known[type] ?? type).join(', ')],
        [t.endpoints.format, t.endpoints.formats[format]],
        limit !== null && [t.endpoints.maxInFlight, limit],
        headers.length > 0 && [t.endpoints.headers, <code key="headers">{headers.join(', ')}</code>],
        [
          t.endpoints.deliveries,
          <Link key="deliveries" href={`/deliveries?endpoint_id=${endpoint.id}`}>
            {t.endpoints.seeDeliveries}
          </Link>,
        ],
      ]}
    />
  )
}

function Secret({ endpoint }: { endpoint: WebhookEndpointBody }) {
  const { t, exactMoment } = useWords()
  const changed = useEndpointsChanged()
  const show = useMutation({ mutationFn: () => api.endpoint(endpoint.id) })
  const rotate = useMutation({ mutationFn: () => api.rotateEndpointSecret(endpoint.id), onSuccess: changed })
  const secret = endpoint.secret ?? show.data?.secret ?? null
  const { pending_secret: pending, pending_secret_activates_at: at, format } = endpoint
  return (
    <>
      <div className="secret">
        <p className="faint">{t.endpoints.secret}</p>
        {secret && <CopyValue value={secret} label={t.endpoints.secret} />}
        {show.data && !secret && <p className="warning">{t.failures.fresh_login_required}</p>}
      </div>
      {pending && at && (
        <div className="secret" role="status">
          <p>{format === 'standard' ? t.endpoints.pendingStandard(exactMoment(at)) : t.settings.pending(exactMoment(at))}</p>
          <CopyValue value={pending} label={t.settings.pendingLabel} />
        </div>
      )}
      {(rotate.error ?? show.error) && <Failure error={rotate.error ?? show.error ?? new Error()} />}
      <div className="buttons">
        <Button variant="default" loading={show.isPending} onClick={() => (secret ? show.reset() : show.mutate())}>
          {secret ? t.settings.hide : t.settings.show}
        </Button>
        {pending ? (
          <Confirmed
            action={t.settings.activate}
            question={t.settings.activateSure}
            work={() => api.activateEndpointSecret(endpoint.id)}
            onDone={changed}
          />
        ) : (
          <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate()}>
            {t.endpoints.rotate}
          </Button>
        )}
      </div>
    </>
  )
}
