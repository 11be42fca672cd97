import type { Page } from 'playwright-core'
import { dashboard } from './merchant'
import { alert, heading, type Stop } from './stop'

/** A newcomer's pages, in the order of a first visit. */
export function newcomer(email: string): Stop[] {
  const toSignUp = (page: Page) => page.locator('.door-ways .plain').first().click()
  const toForgotten = (page: Page) => page.locator('.door-ways .plain').last().click()
  const submit = (page: Page) => page.locator('button[type=submit]').click()
  // Not by the address: a reload would forget the key that the store's making has shown.
  const stay = { path: '/dashboard' }
  return [
    { name: 'sign-in', ...stay, ready: heading },
    { name: 'sign-up', ...stay, ready: toSignUp },
    { name: 'forgotten', ...stay, ready: toForgotten },
    {
      name: 'mail-sent',
      ...stay,
      ready: async page => {
        await toForgotten(page)
        await page.locator('input[name=email]').fill('ana@padaria.example')
        await submit(page)
        await page.locator('.door-card [role=status]').first().waitFor()
      },
    },
    { name: 'mailed-link', path: '/dashboard/link#token_hash=0123&type=recovery', ready: heading },
    { name: 'mailed-link-over', path: '/dashboard/link#error=access_denied&error_code=otp_expired', ready: alert },
    {
      name: 'onboarding',
      ...stay,
      ready: async page => {
        await toSignUp(page)
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

export const PASSWORD = 'a-password-for-tests'

/** Logs in by the form, as a person does. */
export async function logIn(page: Page, gatewayUrl: string, email: string): Promise<void> {
  await page.goto(`${gatewayUrl}/dashboard`)
  await page.locator('input[name=email]').fill(email)
  await page.locator('input[name=password]').fill(PASSWORD)
  await page.locator('button[type=submit]').click()
  await page.locator('nav').waitFor()
}
