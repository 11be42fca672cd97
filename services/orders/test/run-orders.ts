import type { OrderBody } from '@ponte/contracts'
import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { listener, message } from './listener'
import { asMerchant, merchantId, startOrders } from './setup'

export let system: Awaited<ReturnType<typeof startOrders>>
export let chain: ReturnType<typeof listener>

/** The service and a listener on its bus, for all tests of a file. */
export function runOrders(...settings: Parameters<typeof startOrders>): void {
  beforeAll(async () => {
    system = await startOrders(...settings)
    chain = listener(system.bus)
  })
  afterAll(() => system?.stop())
}

export const create = async (merchant = merchantId, brl_amount = '542.00'): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant(merchant)).send({ brl_amount })).body
export const read = async (id: string, merchant = merchantId): Promise<OrderBody> =>
  (await request(system.url).get(`/api/v1/orders/${id}`).set(asMerchant(merchant))).body
/** Of the events that every merchant gets. */
export const types = async (id: string) => (await system.published(id)).map(({ type }) => type)

/** The merchant is paid to this address since then. */
export const paidTo = (merchant: string, payout_address: string | null, version: number, since: Date) =>
  system.bus.publish(
    message(
      'merchant.updated',
      {
        ...{ merchant_id: merchant, version, display_name: 'M', payout_address, webhook_url: null, sealed_webhook_secret: 'x' },
        ...{ sealed_pending_webhook_secret: null, pending_webhook_secret_activates_at: null },
      },
      uuidv7(),
      since,
    ),
  )
