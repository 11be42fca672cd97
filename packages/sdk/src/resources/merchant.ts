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
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { callOperation } from './call.js'

/** Webhook endpoints beside the `webhook_url`. */
export interface Endpoints {
  /** All of them, the `webhook_url` first, with how each is doing. */
  list(options?: RequestOptions): Promise<WebhookEndpoint[]>
  /** Reads an endpoint. */
  get(id: string, options?: RequestOptions): Promise<WebhookEndpoint>
  /** Adds an endpoint. */
  create(body: CreateWebhookEndpoint, options?: WriteOptions): Promise<WebhookEndpoint>
  /** Changes, pauses or resumes an endpoint. */
  update(id: string, body: UpdateWebhookEndpoint, options?: RequestOptions): Promise<WebhookEndpoint>
  /** Deletes an endpoint; what waits for it ends as dead. */
  delete(id: string, options?: RequestOptions): Promise<{ id: string }>
  /** Sends `endpoint.test` to this endpoint alone. */
  test(id: string, options?: WriteOptions): Promise<Delivery>
}

/** Events on their way to endpoints. */
export interface Deliveries {
  /** Lists deliveries, newest first. */
  list(query?: ListDeliveries, options?: RequestOptions): List<Delivery>
  /** Reads a delivery with its attempts. */
  get(id: string, options?: RequestOptions): Promise<DeliveryDetail>
  /** Delivers an event again. */
  replay(id: string, options?: WriteOptions): Promise<Delivery>
}

/** For the merchant's own user; `get` needs a client that was made with a session token, the others that or a named key with the scope. */
export interface MerchantResource {
  /** Reads the merchant. */
  get(options?: RequestOptions): Promise<Merchant>
  readonly endpoints: Endpoints
  readonly deliveries: Deliveries
}

export const createMerchant = (send: Transport): MerchantResource => ({
  get: options => callOperation(send, 'getMerchant', options),
  endpoints: {
    list: async options => (await callOperation<{ data: WebhookEndpoint[] }>(send, 'listWebhookEndpoints', options)).data,
    get: (id, options) => callOperation(send, 'getWebhookEndpoint', { params: { id }, ...options }),
    create: (body, options) => callOperation(send, 'createWebhookEndpoint', { body, ...options }),
    update: (id, body, options) => callOperation(send, 'updateWebhookEndpoint', { params: { id }, body, ...options }),
    delete: (id, options) => callOperation(send, 'deleteWebhookEndpoint', { params: { id }, ...options }),
    test: (id, options) => callOperation(send, 'testWebhookEndpoint', { params: { id }, ...options }),
  },
  deliveries: {
    list: (query, options) => new List((page, rest) => callOperation(send, 'listDeliveries', { query: page, ...rest }), query, options),
    get: (id, options) => callOperation(send, 'getDelivery', { params: { id }, ...options }),
    replay: (id, options) => callOperation(send, 'replayDelivery', { params: { id }, ...options }),
  },
})
