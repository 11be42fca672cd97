import type { Event, EventData, EventType } from '@ponte/contracts'
import { toWebhook } from './webhook'

const merchantId = '01981f3c-0000-7000-8000-00000000000a'
const orderId = '01981f3c-0000-7000-8000-00000000000b'
const subscriptionId = '01981f3c-0000-7000-8000-00000000000c'
const owner = { merchant_id: merchantId, merchant_version: 3 }
const paid = {
  id: orderId,
  subscription_id: null,
  external_ref: 'INV-7',
  brl_amount: '150.00',
  usdc_amount: '27.675277',
  tx_hash: `0x${'5b'.repeat(32)}`,
  memo: 'a3'.repeat(32),
  paid_at: '2026-11-20T12:00:00.000Z',
}
const underpaid = { ...paid, expected: '27.398525', received: '10.000000' }
const compact = { id: orderId, external_ref: null }

const event = <T extends EventType>(type: T, data: EventData<T>) =>
  ({ id: '01981f3c-0000-7000-8000-00000000000d', type, occurred_at: '2026-11-20T12:00:01.000Z', data, trace: null }) as Event
const bodyOf = (incoming: Event) => toWebhook(incoming)?.body.toString('utf8')

describe('what a merchant is notified of', () => {
  it('order.paid: exactly type and data, in the order of the specification', () => {
    expect(bodyOf(event('order.paid', { ...owner, order: paid }))).toBe(
      `{"type":"order.paid","data":{"id":"${orderId}","subscription_id":null,"external_ref":"INV-7","brl_amount":"150.00","usdc_amount":"27.675277","tx_hash":"${paid.tx_hash}","memo":"${paid.memo}","paid_at":"2026-11-20T12:00:00.000Z"}}`,
    )
  })

  it('invariant 3: the paid order of a subscription is not sent as order.paid', () => {
    expect(toWebhook(event('order.paid', { ...owner, order: { ...paid, subscription_id: subscriptionId } }))).toBeUndefined()
  })

  it('subscription.charged carries the payment of the order and names the subscription', () => {
    const body = bodyOf(event('subscription.charged', { ...owner, subscription_id: subscriptionId, charges_done: 1, order: paid }))
    expect(JSON.parse(body ?? '')).toEqual({ type: 'subscription.charged', data: { ...paid, subscription_id: subscriptionId } })
  })

  it('order.underpaid adds expected and received, and names the subscription where there is one', () => {
    const order = { ...underpaid, subscription_id: subscriptionId }
    expect(JSON.parse(bodyOf(event('order.underpaid', { ...owner, order })) ?? '')).toEqual({ type: 'order.underpaid', data: order })
  })

  it.each(['order.expired', 'order.cancelled'] as const)('%s is compact, also for an order of a subscription', type => {
    expect(bodyOf(event(type, { ...owner, subscription_id: subscriptionId, order: compact }))).toBe(
      `{"type":"${type}","data":{"id":"${orderId}","external_ref":null}}`,
    )
  })

  it.each(['subscription.cancelled', 'subscription.expired'] as const)('%s is compact', type => {
    expect(bodyOf(event(type, { ...owner, open_order_id: orderId, subscription: compact }))).toBe(
      `{"type":"${type}","data":{"id":"${orderId}","external_ref":null}}`,
    )
  })

  it.each(['order.overpaid', 'order.paid_late', 'order.paid_after_cancel', 'order.duplicate'] as const)('%s carries both amounts', type => {
    expect(JSON.parse(bodyOf(event(type, { ...owner, order: underpaid })) ?? '')).toEqual({ type, data: underpaid })
  })

  it('names what it is about', () => {
    const order = { ...paid, subscription_id: subscriptionId }
    const charged = { ...owner, subscription_id: subscriptionId, charges_done: 1, order }
    expect(toWebhook(event('subscription.charged', charged))).toMatchObject({ orderId, subscriptionId })
    expect(toWebhook(event('order.expired', { ...owner, subscription_id: null, order: compact }))).toMatchObject({
      orderId,
      subscriptionId: null,
    })
    const ended = { ...owner, open_order_id: null, subscription: { ...compact, id: subscriptionId } }
    expect(toWebhook(event('subscription.expired', ended))).toMatchObject({ orderId: null, subscriptionId })
  })

  it('keeps text outside ASCII as UTF-8 bytes', () => {
    const body = toWebhook(event('order.expired', { ...owner, subscription_id: null, order: { ...compact, external_ref: 'pão ☕' } }))?.body
    expect(body?.includes(Buffer.from('pão ☕', 'utf8'))).toBe(true)
  })

  it('drops a field that merchants do not get', () => {
    const order = { ...compact, internal_note: 'secret' }
    expect(bodyOf(event('order.expired', { ...owner, subscription_id: null, order }))).not.toContain('internal_note')
  })

  it('states nothing about what concerns services only', () => {
    const terms = { merchant_id: merchantId, version: 1, display_name: 'P', payout_address: null }
    const updated = {
      ...terms,
      webhook_url: null,
      sealed_webhook_secret: 's',
      sealed_pending_webhook_secret: null,
      pending_webhook_secret_activates_at: null,
    }
    expect(toWebhook(event('merchant.updated', updated))).toBeUndefined()
  })
})
