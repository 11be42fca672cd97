import type { EndpointFormat } from '@ponte/contracts'
import request from 'supertest'
import { asMerchant, merchantUpdated, SECRET, type System } from '../setup'

/** Where a merchant may be notified: at the `webhook_url`, or at an endpoint of either format. What holds for one holds for all. */
export const KINDS = ['webhook_url', 'ponte', 'standard'] as const
export type Kind = (typeof KINDS)[number]

export interface NewEndpoint {
  url: string
  events?: string[]
  format?: EndpointFormat
  headers?: Record<string, string>
  max_in_flight?: number
  description?: string
}

export const post = (system: System, merchantId: string, path: string, body: object = {}) =>
  request(system.url).post(`/api/v1/webhook-endpoints${path}`).set(asMerchant(merchantId)).send(body)

export async function addEndpoint(system: System, merchantId: string, endpoint: NewEndpoint) {
  const { status, body } = await post(system, merchantId, '', { events: ['*'], ...endpoint })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

/** Makes the merchant known and this URL the one place where they are notified; resolves to its lane and its secret. */
export async function notifyAt(
  system: System,
  kind: Kind,
  merchantId: string,
  url: string | null,
  { version = 1 }: { version?: number } = {},
): Promise<{ endpointId: string; secret: string }> {
  if (kind === 'webhook_url' || url === null) {
    await system.publish(merchantUpdated(merchantId, { version, webhook_url: kind === 'webhook_url' ? url : null }))
    return { endpointId: merchantId, secret: SECRET }
  }
  await system.publish(merchantUpdated(merchantId, { version }))
  const { id, secret } = await addEndpoint(system, merchantId, { url, format: kind })
  return { endpointId: id, secret }
}
