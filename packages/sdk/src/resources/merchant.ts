import { List } from '../page.js'
import type {
  CreateWebhookEndpoint,
  Delivery,
  DeliveryDetail,
  ListDeliveries,
  Merchant,
  UpdateWebhookEndpoint,
  WebhookEndpoint,
} from '../schemas.js'
import type { RequestOptions, Transport } from '../transport.js'
import { segment } from './path.js'

const PATH = '/api/v1/merchants/me'

/** Webhook endpoints beside the `webhook_url`. */
export interface Endpoints {
  /** All of them, the `webhook_url` first, with how each is doing. */
  list(options?: RequestOptions): Promise<WebhookEndpoint[]>
  /** Reads an endpoint. */
  get(id: string, options?: RequestOptions): Promise<WebhookEndpoint>
  /** Adds an endpoint. Not tried again when the connection is lost: look at the list first. */
  create(body: CreateWebhookEndpoint, options?: RequestOptions): Promise<WebhookEndpoint>
  /** Changes, pauses or resumes an endpoint. */
  update(id: string, body: UpdateWebhookEndpoint, options?: RequestOptions): Promise<WebhookEndpoint>
  /** Deletes an endpoint; what waits for it ends as dead. */
  delete(id: string, options?: RequestOptions): Promise<{ id: string }>
  /** Sends `endpoint.test` to this endpoint alone. */
  test(id: string, options?: RequestOptions): Promise<Delivery>
}

/** Events on their way to endpoints. */
export interface Deliveries {
  /** Lists deliveries, newest first. */
  list(query?: ListDeliveries, options?: RequestOptions): List<Delivery>
  /** Reads a delivery with its attempts. */
  get(id: string, options?: RequestOptions): Promise<DeliveryDetail>
  /** Delivers an event again. */
  replay(id: string, options?: RequestOptions): Promise<Delivery>
}

/** What the merchant's own user may do. Needs a client that was made with a session token in place of the API key. */
export interface MerchantResource {
  /** Reads the merchant. */
  get(options?: RequestOptions): Promise<Merchant>
  readonly endpoints: Endpoints
  readonly deliveries: Deliveries
}

export const createMerchant = (send: Transport): MerchantResource => ({
  get: options => send({ method: 'GET', path: PATH, ...options }),
  endpoints: {
    list: async options => (await send<{ data: WebhookEndpoint[] }>({ method: 'GET', path: `${PATH}/webhook-endpoints`, ...options })).data,
    get: (id, options) => send({ method: 'GET', path: `${PATH}/webhook-endpoints/${segment(id)}`, ...options }),
    create: (body, options) => send({ method: 'POST', path: `${PATH}/webhook-endpoints`, body, ...options }),
    update: (id, body, options) => send({ method: 'PATCH', path: `${PATH}/webhook-endpoints/${segment(id)}`, body, ...options }),
    delete: (id, options) => send({ method: 'DELETE', path: `${PATH}/webhook-endpoints/${segment(id)}`, ...options }),
    test: (id, options) => send({ method: 'POST', path: `${PATH}/webhook-endpoints/${segment(id)}/test`, ...options }),
  },
  deliveries: {
    list: (query, options) =>
      new List((page, rest) => send({ method: 'GET', path: `${PATH}/deliveries`, query: page, ...rest }), query, options),
    get: (id, options) => send({ method: 'GET', path: `${PATH}/deliveries/${segment(id)}`, ...options }),
    replay: (id, options) => send({ method: 'POST', path: `${PATH}/deliveries/${segment(id)}/replay`, body: {}, ...options }),
  },
})
