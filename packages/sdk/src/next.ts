/**
 * A webhook receiver for `pages/api` of Next.js; export `config` beside it.
 *
 * ```ts
 * export { config } from '@ponte/sdk/next'
 * export default pagesWebhookHandler({ secret, on: { 'order.paid': data => ship(data.external_ref) } })
 * ```
 */
export { webhookHandler as pagesWebhookHandler } from './express.js'
/**
 * A webhook receiver for route handlers of Next.js.
 *
 * ```ts
 * export const POST = webhookHandler({ secret, on: { 'order.paid': data => ship(data.external_ref) } })
 * ```
 */
export { webhookHandler } from './fetch.js'
export type { EventHandlers, SeenEvents, WebhookHandlerOptions } from './handlers/receive.js'

/** Keeps Next.js from parsing the body before the signature is checked. */
export const config = { api: { bodyParser: false } }
