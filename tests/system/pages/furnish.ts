import type { System } from '@ponte/all-in-one'
import type { LinkBody, List, OrderBody, RefundClaimBody, SubscriptionBody } from '@ponte/contracts'
import { openDatabase, until } from '@ponte/service-kit'
import { call, createMerchant, pay, units, type World } from '../../world'

type Merchant = Awaited<ReturnType<typeof createMerchant>>
type Listed = List<{ id: string; status: string }>

/** A merchant with a little of everything: orders in their states, a subscription, a delivery that arrives and one that does not. */
export async function furnish(world: World, system: System, given?: Merchant) {
  const merchant = given ?? (await createMerchant(world, system.gatewayUrl))
  const ask = <T>(method: string, path: string, body?: object) => call<T>(system.gatewayUrl, method, path, merchant.api_key, body)
  const order = (brl_amount: string, external_ref: string, description: string) =>
    ask<OrderBody>('POST', '/api/v1/orders', { brl_amount, external_ref, description, expires_in: 3600 })
  const paid = await order('1250.00', 'INV-1042', 'Encomenda de pães para sábado')
  await pay(world.chain, paid)
  for (const [amount, reference] of [
    ['89.90', 'INV-1043'],
    ['430.00', 'INV-1044'],
  ] as const) {
    await pay(world.chain, await order(amount, reference, 'Pedido da semana'))
  }
  const underpaid = await order('300.00', 'INV-1045', 'Bolo de aniversário')
  await pay(world.chain, underpaid, units(underpaid.usdc_amount) / 2n)
  // More than it asks for, of which the greater part is left over.
  const over = await order('75.00', 'INV-1041', 'Brownies')
  await pay(world.chain, over, units(over.usdc_amount) * 3n)
  const cancelled = await order('54.00', 'INV-1046', 'Cesta de café da manhã')
  await ask('POST', `/api/v1/orders/${cancelled.id}/cancel`, {})
  await system.idle()
  const claim = await ask<RefundClaimBody>('POST', `/api/v1/orders/${over.id}/refund-claims`, {
    surplus: true,
    reason: 'Veio de corretora',
  })
  world.receiver.answerWith(500)
  const failing = await order('20.00', 'INV-1047', 'Pedido desfeito')
  await ask('POST', `/api/v1/orders/${failing.id}/cancel`, {})
  const subscription = await ask<SubscriptionBody>('POST', '/api/v1/subscriptions', {
    ...{ brl_amount: '149.90', interval: 'month', max_periods: 12, external_ref: 'CLUBE-17', description: 'Clube do pão' },
  })
  const link = (body: object) => ask<LinkBody>('POST', '/api/v1/links', body)
  const ended = await link({ kind: 'reusable', brl_amount: '25.00', description: 'Rifa da escola' })
  await ask('POST', `/api/v1/links/${ended.id}/end`, {})
  await link({ kind: 'reusable', brl_amount_min: '10.00', brl_amount_max: '500.00', description: 'Caixinha da equipe', max_payments: 50 })
  const invoice = await link({
    ...{ kind: 'invoice', brl_amount: '1520.00', description: 'Bolo de casamento, três andares', external_ref: 'FAT-31' },
    due_at: '2099-12-31T23:59:59.999Z',
  })
  const pending = await order('1480.00', 'INV-1048', 'Café da manhã do escritório, novembro')
  const endpoint = (body: object) => call(system.gatewayUrl, 'POST', '/api/v1/merchants/me/webhook-endpoints', merchant.token, body)
  await endpoint({
    url: `${world.receiverUrl}/erp`,
    events: ['order.paid', 'order.settled'],
    format: 'standard',
    description: 'ERP',
    headers: { 'X-Tenant': '42' },
  })
  await endpoint({ url: `${world.receiverUrl}/chat`, events: ['*'], max_in_flight: 2 })
  const mine = (path: string, body: object) => call(system.gatewayUrl, 'POST', `/api/v1/merchants/me/${path}`, merchant.token, body)
  await mine('invitations', { email: 'contadora@padaria.example', role: 'finance' })
  await mine('api-keys', { name: 'ERP', scopes: ['orders:read', 'deliveries:read', 'deliveries:write'] })
  const deliveries = () => call<Listed>(system.gatewayUrl, 'GET', '/api/v1/merchants/me/deliveries', merchant.token)
  await until(async () => (await deliveries()).data.some(({ status }) => status === 'pending'), 'no delivery fails')
  const list = await deliveries()
  const idOf = (wanted: string) => list.data.find(({ status }) => status === wanted)?.id ?? ''
  return {
    merchant,
    paid,
    underpaid,
    cancelled,
    pending,
    subscription,
    claim,
    link: invoice,
    delivered: idOf('delivered'),
    failed: idOf('pending'),
  }
}

/** Orders that were paid on other days, so that the chart has something to show. */
export async function payForDays(world: World, system: System, apiKey: string): Promise<void> {
  const database = openDatabase({ url: world.place.databaseUrl('orders'), poolSize: 1 })
  for (const [daysAgo, brl_amount] of [
    [6, '640.00'],
    [5, '1310.50'],
    [4, '985.00'],
    [2, '1720.40'],
    [1, '1145.90'],
  ] as const) {
    const body = { brl_amount, external_ref: `INV-${1030 + 6 - daysAgo}`, description: 'Pedido da semana' }
    const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', apiKey, body)
    await pay(world.chain, order)
    await system.idle()
    await database.query(
      "UPDATE orders SET created_at = created_at - $2 * interval '1 day', paid_at = paid_at - $2 * interval '1 day' WHERE id = $1",
      [order.id, daysAgo],
    )
  }
  await database.stop?.()
}
