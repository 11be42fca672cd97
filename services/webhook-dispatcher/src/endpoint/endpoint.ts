import { ApiError, type CreateEndpoint, type EndpointFormat, invalidField, type UpdateEndpoint, vetWebhookUrl } from '@ponte/contracts'

/** A place beside the `webhook_url` where a merchant is notified. */
export interface Endpoint {
  id: string
  merchantId: string
  version: number
  url: string
  description: string | null
  events: string[]
  format: EndpointFormat
  headerNames: string[]
  /** The static headers as JSON. */
  sealedHeaders: string | null
  maxInFlight: number | null
  paused: boolean
  sealedSecret: string
  pending: { sealed: string; activatesAt: Date } | null
  createdAt: Date
}

/** Seals a text of the endpoint with this id. */
export type Seal = (plain: string, endpointId: string) => string

/** A rotated secret waits so long beside the one in force, as the merchant's own does. */
export const SECRET_ACTIVATES_AFTER_MS = 24 * 3_600_000

export function createEndpoint(
  body: CreateEndpoint,
  { id, merchantId, secret, at, seal }: { id: string; merchantId: string; secret: string; at: Date; seal: Seal },
): Endpoint {
  return {
    id,
    merchantId,
    version: 1,
    url: checkedUrl(body.url),
    description: body.description ?? null,
    events: body.events,
    format: body.format,
    ...sealedHeaders(body.headers ?? {}, id, seal),
    maxInFlight: body.max_in_flight ?? null,
    paused: false,
    sealedSecret: seal(secret, id),
    pending: null,
    createdAt: at,
  }
}

/**
 * Absent fields stay; `null` clears. Throws `invalid_request` when static headers would follow the endpoint to another origin: they are never shown, so
 * who may move the endpoint must not receive them by that.
 */
export function updateEndpoint(endpoint: Endpoint, body: UpdateEndpoint, seal: Seal): Endpoint {
  const url = body.url === undefined ? endpoint.url : checkedUrl(body.url)
  if (endpoint.headerNames.length > 0 && !body.headers && new URL(url).origin !== new URL(endpoint.url).origin)
    throw invalidField('headers', OTHER_ORIGIN)
  return {
    ...endpoint,
    url,
    description: body.description === undefined ? endpoint.description : body.description,
    events: body.events ?? endpoint.events,
    format: body.format ?? endpoint.format,
    ...(body.headers ? sealedHeaders(body.headers, endpoint.id, seal) : {}),
    maxInFlight: body.max_in_flight === undefined ? endpoint.maxInFlight : body.max_in_flight,
    paused: body.paused ?? endpoint.paused,
  }
}

/** The secret whose time has come is the one in force. */
export const inForce = (endpoint: Endpoint, at: Date): Endpoint =>
  endpoint.pending && endpoint.pending.activatesAt <= at ? { ...endpoint, sealedSecret: endpoint.pending.sealed, pending: null } : endpoint

/** A new secret beside the one in force; one that waited already is replaced. */
export const rotateSecret = (endpoint: Endpoint, secret: string, at: Date, seal: Seal): Endpoint => ({
  ...inForce(endpoint, at),
  pending: { sealed: seal(secret, endpoint.id), activatesAt: new Date(at.getTime() + SECRET_ACTIVATES_AFTER_MS) },
})

/** Puts the waiting secret in force; throws `invalid_state` when none waits. */
export function activateSecret(endpoint: Endpoint, at: Date): Endpoint {
  const { pending, ...present } = inForce(endpoint, at)
  if (!pending) throw new ApiError('invalid_state', 'No secret waits to be activated; rotate the secret first.')
  return { ...present, sealedSecret: pending.sealed, pending: null }
}

const OTHER_ORIGIN = 'must be sent again with a url of another origin, or as {}: those that are kept do not go there'

const sealedHeaders = (headers: Readonly<Record<string, string>>, id: string, seal: Seal) => {
  const headerNames = Object.keys(headers)
  return { headerNames, sealedHeaders: headerNames.length === 0 ? null : seal(JSON.stringify(headers), id) }
}

function checkedUrl(text: string): string {
  const { refusal } = vetWebhookUrl(text)
  if (refusal === undefined) return text
  throw invalidField('url', refusal)
}
