import { List } from '../page.js'
import type {
  AuditEntry,
  CreateWebhookEndpoint,
  Delivery,
  DeliveryDetail,
  ExportAudit,
  ExportDeliveries,
  ListAudit,
  ListDeliveries,
  Merchant,
  ReplayDeliveries,
  Replayed,
  UpdateWebhookEndpoint,
  WebhookEndpoint,
} from '../schemas.js'
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { callOperation, exportFile } from './call.js'

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
  /** Makes a new secret, which the answer shows. */
  rotateSecret(id: string, options?: WriteOptions): Promise<WebhookEndpoint>
  /** Puts the new secret in force, and the old one out of it. */
  activateSecret(id: string, options?: WriteOptions): Promise<WebhookEndpoint>
}

/** Events on their way to endpoints. */
export interface Deliveries {
  /** Lists deliveries, newest first. */
  list(query?: ListDeliveries, options?: RequestOptions): List<Delivery>
  /** Reads a delivery with its attempts. */
  get(id: string, options?: RequestOptions): Promise<DeliveryDetail>
  /** Delivers an event again. */
  replay(id: string, options?: WriteOptions): Promise<Delivery>
  /** Delivers the events of a time range again; while `has_more`, ask again from `next_created_gte`. */
  replayAll(body: ReplayDeliveries, options?: WriteOptions): Promise<Replayed>
  /** All pages of the list as CSV. */
  export(query?: ExportDeliveries, options?: RequestOptions): Promise<string>
}

/** Changes of the account, each with its author. */
export interface Audit {
  /** Lists changes, newest first. */
  list(query?: ListAudit, options?: RequestOptions): List<AuditEntry>
  /** All pages of the list as CSV. */
  export(query?: ExportAudit, options?: RequestOptions): Promise<string>
}

/** The account: with a key that has the scope of each, or with a session token. */
export interface MerchantResource {
  /** Reads the merchant of the key or of the session's user, without secrets: those are shown by what makes them. */
  get(options?: RequestOptions): Promise<Merchant>
  readonly endpoints: Endpoints
  readonly deliveries: Deliveries
  readonly audit: Audit
}

export const createMerchant = (send: Transport, credential: () => string | Promise<string>): MerchantResource => ({
  // A key and a session read it at two addresses.
  get: async options =>
    (await credential()).startsWith('sk_')
      ? callOperation(send, 'getMerchantOfKey', options)
      : callOperation(send, 'getMerchant', { query: { secrets: 'hidden' }, ...options }),
  endpoints: {
    list: async options => (await callOperation<{ data: WebhookEndpoint[] }>(send, 'listWebhookEndpoints', options)).data,
    get: (id, options) => callOperation(send, 'getWebhookEndpoint', { params: { id }, ...options }),
    create: (body, options) => callOperation(send, 'createWebhookEndpoint', { body, ...options }),
    update: (id, body, options) => callOperation(send, 'updateWebhookEndpoint', { params: { id }, body, ...options }),
    delete: (id, options) => callOperation(send, 'deleteWebhookEndpoint', { params: { id }, ...options }),
    test: (id, options) => callOperation(send, 'testWebhookEndpoint', { params: { id }, ...options }),
    rotateSecret: (id, options) => callOperation(send, 'rotateEndpointSecret', { params: { id }, ...options }),
    activateSecret: (id, options) => callOperation(send, 'activateEndpointSecret', { params: { id }, ...options }),
  },
  deliveries: {
    list: (query, options) => new List((page, rest) => callOperation(send, 'listDeliveries', { query: page, ...rest }), query, options),
    export: (query, options) => exportFile(send, 'exportDeliveries', query, options),
    get: (id, options) => callOperation(send, 'getDelivery', { params: { id }, ...options }),
    replay: (id, options) => callOperation(send, 'replayDelivery', { params: { id }, ...options }),
    replayAll: (body, options) => callOperation(send, 'replayDeliveries', { body, ...options }),
  },
  audit: {
    list: (query, options) => new List((page, rest) => callOperation(send, 'listAudit', { query: page, ...rest }), query, options),
    export: (query, options) => exportFile(send, 'exportAudit', query, options),
  },
})
