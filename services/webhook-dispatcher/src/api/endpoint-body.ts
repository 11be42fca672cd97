import { type AddressPolicy, namesInternalHost, SPECIFIED_EVENTS, vetWebhookUrl, type WebhookEndpointBody } from '@ponte/contracts'
import { type Endpoint, inForce } from '../endpoint/endpoint'
import type { EndpointHealth } from '../store'

export interface Showing {
  unseal(sealed: string, endpointId: string): string
  /** The sender's policy, so that a merchant is warned of an address that it refuses. */
  addresses: AddressPolicy
}

/** Of one request. */
interface Shown {
  at: Date
  withSecrets: boolean
}

export function endpointBody(
  endpoint: Endpoint,
  health: EndpointHealth,
  { unseal, addresses }: Showing,
  { at, withSecrets }: Shown,
): WebhookEndpointBody {
  const { pending, ...present } = inForce(endpoint, at)
  const shown = (sealed: string) => (withSecrets ? unseal(sealed, endpoint.id) : null)
  const warnings = warningsOf(endpoint.url, addresses)
  return {
    object: 'webhook_endpoint',
    id: endpoint.id,
    is_default: false,
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.events,
    format: endpoint.format,
    header_names: endpoint.headerNames,
    max_in_flight: endpoint.maxInFlight,
    paused: endpoint.paused,
    secret: shown(present.sealedSecret),
    pending_secret: pending && shown(pending.sealed),
    pending_secret_activates_at: pending?.activatesAt.toISOString() ?? null,
    ...healthBody(health),
    created_at: endpoint.createdAt.toISOString(),
    ...(warnings.length > 0 ? { warnings } : {}),
  }
}

/** The merchant's `webhook_url`, as one of their endpoints. */
export const defaultEndpointBody = (merchantId: string, url: string | null, health: EndpointHealth): WebhookEndpointBody => ({
  object: 'webhook_endpoint',
  id: merchantId,
  is_default: true,
  url,
  description: null,
  events: [...SPECIFIED_EVENTS],
  format: 'ponte',
  header_names: [],
  max_in_flight: null,
  paused: false,
  secret: null,
  pending_secret: null,
  pending_secret_activates_at: null,
  ...healthBody(health),
  created_at: null,
})

const healthBody = ({ failingSince, dead }: EndpointHealth) => ({ failing_since: failingSince?.toISOString() ?? null, dead })

function warningsOf(url: string, addresses: AddressPolicy): string[] {
  const { destination } = vetWebhookUrl(url)
  if (!destination || !namesInternalHost(destination, addresses)) return []
  return ['The url names an internal address; deliveries to it are refused and marked dead.']
}
