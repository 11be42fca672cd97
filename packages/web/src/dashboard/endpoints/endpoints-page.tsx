import type { WebhookEndpointBody } from '@ponte/contracts'
import { Link } from 'wouter'
import { Allowed, useMay } from '../api/use-memberships'
import { Badge } from '../elements/badge'
import { Card } from '../elements/card'
import { Facts } from '../elements/facts'
import { Empty, Failure, Loading } from '../elements/states'
import { DialogButton } from '../forms/dialog-button'
import { Back, Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { useWords } from '../texts/words'
import { EndpointCard } from './endpoint-card'
import { EndpointForm } from './endpoint-form'
import { EndpointWarnings } from './endpoint-warnings'
import { useEndpoints } from './use-endpoints'
import './endpoints-page.css'

const OTHERS_MAX = 10

/** Where webhooks go: the webhook_url, and what the merchant set beside it. */
export function EndpointsPage() {
  const { t } = useWords()
  usePageTitle(t.endpoints.title)
  const { data, error, refetch } = useEndpoints()
  const maySee = useMay('listWebhookEndpoints')
  const others = data?.filter(({ is_default }) => !is_default) ?? []
  return (
    <>
      <Back to="/deliveries" title={t.deliveries.title} />
      <Heading title={t.endpoints.title}>
        <Allowed to="createWebhookEndpoint">
          <DialogButton title={t.endpoints.add} disabled={others.length >= OTHERS_MAX}>
            {close => <EndpointForm endpoint={null} onDone={close} />}
          </DialogButton>
        </Allowed>
      </Heading>
      <p className="lead">{t.endpoints.lead}</p>
      <EndpointWarnings />
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!maySee && <Empty title={t.endpoints.hidden} />}
      {maySee && !data && !error && <Loading />}
      {data
        ?.filter(({ is_default }) => is_default)
        .map(main => (
          <Main key={main.id} endpoint={main} />
        ))}
      {others.map(endpoint => (
        <EndpointCard key={endpoint.id} endpoint={endpoint} />
      ))}
    </>
  )
}

function Main({ endpoint }: { endpoint: WebhookEndpointBody }) {
  const { t, moment } = useWords()
  const { url, failing_since: since } = endpoint
  return (
    <Card title={t.endpoints.main} className="endpoint">
      <p className="badges">
        <Badge tone={since ? 'warn' : url ? 'good' : 'calm'}>
          {since ? t.endpoints.failing : url ? t.endpoints.active : t.endpoints.noUrl}
        </Badge>
        {since && <span className="faint">{t.endpoints.failingSince(moment(since))}</span>}
      </p>
      {url && <Facts rows={[[t.endpoints.url, <code key="url">{url}</code>]]} />}
      <p className="faint">
        {t.endpoints.mainText} <Link href="/settings">{t.endpoints.mainLink}</Link>
      </p>
    </Card>
  )
}
