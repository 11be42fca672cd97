import type { List, OrderBody, SubscriptionBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import type { Page } from 'playwright-core'
import type { System } from '../src'
import { call, createMerchant, pay, units, type World } from './system'

type Listed = List<{ id: string; status: string }>

/** A merchant with a little of everything: orders in their states, a subscription, a delivery that arrives and one that does not. */
export async function furnish(world: World, system: System) {
  const merchant = await createMerchant(world, system.gatewayUrl)
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
  const cancelled = await order('54.00', 'INV-1046', 'Cesta de café da manhã')
  await ask('POST', `/api/v1/orders/${cancelled.id}/cancel`, {})
  await system.idle()
  world.receiver.answerWith(500)
  const failing = await order('20.00', 'INV-1047', 'Pedido desfeito')
  await ask('POST', `/api/v1/orders/${failing.id}/cancel`, {})
  const subscription = await ask<SubscriptionBody>('POST', '/api/v1/subscriptions', {
    ...{ brl_amount: '149.90', interval: 'month', max_periods: 12, external_ref: 'CLUBE-17', description: 'Clube do pão' },
  })
  const pending = await order('1480.00', 'INV-1048', 'Café da manhã do escritório, novembro')
  const deliveries = () => call<Listed>(system.gatewayUrl, 'GET', '/api/v1/merchants/me/deliveries', merchant.token)
  await until(async () => (await deliveries()).data.some(({ status }) => status === 'pending'), 'no delivery fails')
  const list = await deliveries()
  const idOf = (wanted: string) => list.data.find(({ status }) => status === wanted)?.id ?? ''
  return { merchant, paid, underpaid, cancelled, pending, subscription, delivered: idOf('delivered'), failed: idOf('pending') }
}
export type Furnished = Awaited<ReturnType<typeof furnish>>

export interface Stop {
  name: string
  path: string
  /** What shows that the page is there. */
  ready(page: Page): Promise<unknown>
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).waitFor()
const settled = async (page: Page) => {
  await heading(page)
  await until(async () => (await page.locator('.loading').count()) === 0, 'a page is still loading')
}

/** Every page, with what is needed to see it. */
export function everyPage(of: Furnished): { checkout: Stop[]; dashboard: Stop[] } {
  const checkout = (name: string, id: string): Stop => ({ name, path: `/pay/${id}`, ready: heading })
  const dashboard = (name: string, path: string): Stop => ({ name, path: `/dashboard${path}`, ready: settled })
  return {
    checkout: [
      checkout('checkout', of.pending.id),
      checkout('checkout-paid', of.paid.id),
      checkout('checkout-underpaid', of.underpaid.id),
      checkout('checkout-cancelled', of.cancelled.id),
      { name: 'checkout-missing', path: '/pay/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90', ready: page => page.getByRole('alert').waitFor() },
    ],
    dashboard: [
      dashboard('overview', ''),
      dashboard('orders', '/orders'),
      dashboard('order', `/orders/${of.paid.id}`),
      dashboard('order-open', `/orders/${of.pending.id}`),
      dashboard('new-order', '/orders?new=1'),
      dashboard('subscriptions', '/subscriptions'),
      dashboard('subscription', `/subscriptions/${of.subscription.id}`),
      dashboard('deliveries', '/deliveries'),
      dashboard('delivery', `/deliveries/${of.failed}`),
      dashboard('developers', '/developers'),
      dashboard('settings', '/settings'),
    ],
  }
}

export const PASSWORD = 'a-password-for-tests'

/** Logs in by the form, as a person does. */
export async function logIn(page: Page, gatewayUrl: string, email: string): Promise<void> {
  await page.goto(`${gatewayUrl}/dashboard`)
  await page.locator('input[name=email]').fill(email)
  await page.locator('input[name=password]').fill(PASSWORD)
  await page.locator('button[type=submit]').click()
  await page.locator('nav').waitFor()
}
