import type { CheckoutBody, PayerSubscriptionBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import type { Page } from 'playwright-core'
import { MERCHANT, PAYER } from '../../world'
import * as state from './order-states'

/** What the pages are about: orders in their states, a subscription, a delivery that fails. */
export interface Shown extends Record<'pending' | 'paid' | 'underpaid' | 'cancelled', { id: string }> {
  subscription: { id: string; payer_url?: string | null | undefined }
  failed: string
}

type Override<Body> = Partial<Body> | ((body: Body) => Partial<Body>)

export interface Stop {
  name: string
  path: string
  /** What the page gets instead of the order's own fields, to stand in a state that otherwise lasts a moment or a day. */
  override?: Override<CheckoutBody> | Override<PayerSubscriptionBody>
  /** The service is asked about the order and does not answer. */
  isUnanswered?: true
  /** The browser loses its connection once the page is there. */
  isOffline?: true
  /** So much time passes on the page once it is there. */
  passes?: string
  /** What brings the page there, or shows that it is. */
  ready(page: Page): Promise<unknown>
}

export const heading = (page: Page) => page.getByRole('heading', { level: 1 }).waitFor()
const settled = async (page: Page) => {
  await heading(page)
  await until(async () => (await page.locator('.loading').count()) === 0, 'a page is still loading')
}

/** Goes to a stop and waits until it is there; with the clock of the page at `at`, where that is given. */
export async function visit(page: Page, gatewayUrl: string, stop: Stop, at?: Date): Promise<void> {
  const { path, override, isUnanswered, isOffline, passes, ready } = stop
  await page.unrouteAll()
  await page.context().setOffline(false)
  if (at) await page.clock.setFixedTime(at)
  else if (passes) await page.clock.install()
  if (isUnanswered) await page.route('**/api/v1/checkout/*', route => route.abort())
  if (override) {
    await page.route(/\/api\/v1\/(checkout|payer\/subscriptions)\/[^/]+$/, async route => {
      const response = await route.fetch()
      const body = await response.json()
      await route.fulfill({ response, json: { ...body, ...(typeof override === 'function' ? override(body) : override) } })
    })
    // A stream that stays silent.
    await page.route('**/api/v1/checkout/*/stream', () => undefined)
  }
  await page.goto(gatewayUrl + path)
  await ready(page)
  if (passes) {
    await page.clock.fastForward(passes)
    await page.locator('.notice.warn').waitFor()
  }
  if (isOffline) {
    await page.context().setOffline(true)
    await page.locator('[role=status] .aside').waitFor()
  }
}

const dashboard = (name: string, path: string, ready: Stop['ready'] = settled): Stop => ({ name, path: `/dashboard${path}`, ready })
const dialog = (page: Page) => page.getByRole('dialog').waitFor()

/** Every page, with what is needed to see it. */
export function everyPage(of: Shown): { checkout: Stop[]; troubled: Stop[]; dashboard: Stop[] } {
  const checkout = (name: string, id: string, more: Partial<Stop> = {}): Stop => ({ name, path: `/pay/${id}`, ready: heading, ...more })
  const missing = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
  return {
    checkout: [
      checkout('checkout', of.pending.id),
      checkout('checkout-other-way', of.pending.id, { ready: page => page.locator('[role=tab][aria-selected=false]').click() }),
      checkout('checkout-confirming', of.pending.id, { override: state.confirming }),
      checkout('checkout-paid', of.paid.id),
      checkout('checkout-way-back', of.paid.id, { override: { success_url: 'https://padaria.example/obrigada?pedido=1042' } }),
      checkout('checkout-way-back-unpaid', of.pending.id, { override: { cancel_url: 'https://padaria.example/carrinho' } }),
      checkout('checkout-underpaid', of.underpaid.id),
      checkout('checkout-expired', of.pending.id, { override: state.expired }),
      checkout('checkout-paid-late', of.pending.id, { override: state.paidLate }),
      checkout('checkout-cancelled', of.cancelled.id),
      checkout('checkout-paid-after-cancel', of.cancelled.id, { override: state.paidAfterCancel }),
      checkout('checkout-expired-part', of.underpaid.id, { override: state.expired }),
      checkout('checkout-overpaid', of.paid.id, { override: state.overpaid }),
      checkout('checkout-duplicate', of.paid.id, { override: state.duplicate }),
      checkout('checkout-reorged', of.underpaid.id, { override: state.reorged }),
      checkout('checkout-time-up', of.pending.id, { override: state.timeUp }),
      checkout('checkout-missing', missing, { ready: page => page.getByRole('alert').waitFor() }),
      { name: 'payer-subscription', path: new URL(of.subscription.payer_url ?? '').pathname, ready: settled },
      {
        ...{ name: 'payer-subscription-unpaid', path: new URL(of.subscription.payer_url ?? '').pathname, ready: settled },
        override: state.unpaid,
      },
      {
        ...{ name: 'payer-subscription-nothing', path: new URL(of.subscription.payer_url ?? '').pathname, ready: settled },
        override: state.nothingDue,
      },
      checkout('checkout-sent', of.pending.id, { ready: page => leaveSent(page, of.pending.id, `0x${'5d'.repeat(32)}`) }),
      checkout('checkout-relayer-paused', of.pending.id, { ready: page => leaveSent(page, of.pending.id, null) }),
    ],
    troubled: [
      checkout('checkout-signature-failed', of.pending.id, { override: state.signatureFailed }),
      checkout('checkout-lost', of.underpaid.id, { isOffline: true }),
      checkout('checkout-unreachable', of.pending.id, { isUnanswered: true, ready: page => page.getByRole('alert').waitFor() }),
      checkout('checkout-failed', of.pending.id, { ready: page => leaveFailed(page, of.pending.id) }),
      checkout('checkout-frozen', of.pending.id, {
        override: state.confirming,
        passes: '03:05',
      }),
    ],
    dashboard: [
      dashboard('overview', ''),
      dashboard('orders', '/orders'),
      dashboard('orders-none', '/orders?q=PED-9'),
      dashboard('order', `/orders/${of.paid.id}`),
      dashboard('order-open', `/orders/${of.pending.id}`),
      dashboard('order-underpaid', `/orders/${of.underpaid.id}`),
      dashboard('order-missing', `/orders/${missing}`),
      dashboard('page-missing', '/nonsense'),
      dashboard('new-order', '/orders?new=1', dialog),
      dashboard('orders-filtered', '/orders?by=paid&amount=89.90'),
      dashboard('attention', '/attention'),
      dashboard('subscriptions', '/subscriptions'),
      dashboard('subscription', `/subscriptions/${of.subscription.id}`),
      dashboard('new-subscription', '/subscriptions?new=1', dialog),
      dashboard('deliveries', '/deliveries'),
      dashboard('replay-range', '/deliveries', async page => {
        await settled(page)
        await page.locator('.heading button').last().click()
        await dialog(page)
      }),
      dashboard('endpoints', '/deliveries/endpoints'),
      dashboard('new-endpoint', '/deliveries/endpoints', async page => {
        await settled(page)
        await page.locator('.heading button').click()
        await dialog(page)
        await page.getByRole('dialog').locator('input[type=checkbox]').first().click()
      }),
      dashboard('delivery', `/deliveries/${of.failed}`),
      dashboard('developers', '/developers'),
      dashboard('team', '/team'),
      dashboard('team-invite', '/team', async page => {
        await settled(page)
        await page.locator('.heading button').click()
        await dialog(page)
      }),
      dashboard('team-key', '/team', async page => {
        await settled(page)
        await page.locator('.card').filter({ hasText: 'ERP' }).first().locator('.buttons button').last().click()
        await dialog(page)
      }),
      dashboard('settings', '/settings'),
      dashboard('payout-address', '/settings', async page => {
        await settled(page)
        await page.locator('.card').nth(1).locator('.buttons button').first().click()
        await page.getByRole('dialog').locator('input').fill(PAYER.address)
        await page.getByRole('dialog').locator('button[type=submit]').click()
        await page.getByRole('dialog').getByText(PAYER.address).waitFor()
      }),
      dashboard('settings-rotated', '/settings', async page => {
        await settled(page)
        await page.locator('.card').nth(3).locator('.buttons button').click()
        await page.getByRole('dialog').locator('.buttons button').last().click()
        await page.getByText(/^sk_live_/).waitFor()
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }),
    ],
  }
}

/** What someone sees who has nothing yet, in the order of a first visit. */
export function newcomer(email: string): Stop[] {
  const submit = (page: Page) => page.locator('button[type=submit]').click()
  // Not by the address: a reload would forget the key that the store's making has shown.
  const stay = { path: '/dashboard' }
  return [
    { name: 'sign-in', ...stay, ready: heading },
    { name: 'sign-up', ...stay, ready: page => page.locator('.door-card > .plain').click() },
    {
      name: 'onboarding',
      ...stay,
      ready: async page => {
        await page.locator('.door-card > .plain').click()
        await page.locator('input[name=email]').fill(email)
        await page.locator('input[name=password]').fill(PASSWORD)
        await submit(page)
        await page.locator('input[name=display_name]').waitFor()
      },
    },
    {
      name: 'first-key',
      ...stay,
      ready: async page => {
        await page.locator('input[name=display_name]').fill('Padaria da Ana')
        await page.locator('input[name=webhook_url]').fill('http://10.0.0.7/hook')
        await submit(page)
        await page.getByText(/^sk_live_/).waitFor()
      },
    },
    dashboard('overview-empty', ''),
    dashboard('orders-empty', '/orders'),
    dashboard('attention-empty', '/attention'),
    dashboard('subscriptions-empty', '/subscriptions'),
    dashboard('deliveries-empty', '/deliveries'),
  ]
}

async function leaveSent(page: Page, orderId: string, hash: string | null): Promise<void> {
  // A signature that was handed in long ago is one that the service could not submit.
  const at = hash === null ? 0 : Date.now()
  const sent = { hash, authorization: null, payer: MERCHANT.address, at, receivedBefore: '0.000000' }
  await page.evaluate(`localStorage.setItem('ponte.sent.${orderId}', '${JSON.stringify(sent)}')`)
  await page.reload()
  await heading(page)
}

/** A transaction of this browser that its wallet finds refused by the network. */
async function leaveFailed(page: Page, orderId: string): Promise<void> {
  await leaveSent(page, orderId, `0x${'5f'.repeat(32)}`)
  await page.evaluate(`dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: {
    info: { rdns: 'io.example', uuid: '1', name: 'Carteira', icon: '' },
    provider: { request: () => Promise.resolve({ status: '0x0' }) },
  } }))`)
  await page.locator('.notice.bad').waitFor()
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
