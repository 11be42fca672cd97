import type { CheckoutBody, PayerSubscriptionBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import type { Page } from 'playwright-core'

/** Subjects of the pages: orders in their states, a subscription, a payment link, a delivery that fails. */
export interface Shown extends Record<'pending' | 'paid' | 'underpaid' | 'cancelled', { id: string }> {
  subscription: { id: string; payer_url?: string | null | undefined }
  claim: { url: string | null }
  link: { id: string; url: string }
  failed: string
}

type Override<Body> = Partial<Body> | ((body: Body) => Partial<Body>)

export interface Stop {
  name: string
  path: string
  /** In place of the order's own fields, for a state that otherwise lasts a moment or a day. */
  override?: Override<CheckoutBody> | Override<PayerSubscriptionBody>
  /** The service is asked about the order and does not answer. */
  isUnanswered?: true
  /** The browser loses its connection once the page is there. */
  isOffline?: true
  /** So much time passes on the page once it is there. */
  passes?: string
  /** Brings the page there, or waits until it is. */
  ready(page: Page): Promise<unknown>
  /** The page whose recorded answers it gets; such a stop is never recorded itself. */
  answersOf?: string
  /** Fields that answers to it have instead of the recorded ones, by the end of the path. */
  instead?: Record<string, object>
  /** Requests that are refused, by the end of the path. */
  refused?: Record<string, { status: number; code?: string; error_code?: string; request_id?: string }>
  /** The browser has no wallet, on a desk either. */
  hasNoWallet?: true
  /** A page of the gateway itself, which gets no answers; the documentation is in English alone. */
  isOfGateway?: true
  isEnglish?: true
  /** The visible part, and not the whole length of the page. */
  isWindow?: true
}

export const heading = (page: Page) => page.getByRole('heading', { level: 1 }).waitFor()
export const alert = (page: Page) => page.getByRole('alert').waitFor()
export const dialog = (page: Page) => page.getByRole('dialog').waitFor()
/** There, and not loading any more. */
export const settled = async (page: Page) => {
  await heading(page)
  await until(async () => (await page.locator('.loading').count()) === 0, 'a page is still loading')
}

/** Goes to a stop and waits until it is there; with the clock of the page at `at`, where that is given. */
export async function visit(page: Page, gatewayUrl: string, stop: Stop, at?: Date): Promise<void> {
  const { path, override, isUnanswered, isOffline, passes, ready } = stop
  await page.unrouteAll({ behavior: 'ignoreErrors' })
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
