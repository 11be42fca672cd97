import type { Page } from 'playwright-core'
import { dashboard } from './merchant'
import { heading, type Stop } from './stop'

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

export const PASSWORD = 'a-password-for-tests'

/** Logs in by the form, as a person does. */
export async function logIn(page: Page, gatewayUrl: string, email: string): Promise<void> {
  await page.goto(`${gatewayUrl}/dashboard`)
  await page.locator('input[name=email]').fill(email)
  await page.locator('input[name=password]').fill(PASSWORD)
  await page.locator('button[type=submit]').click()
  await page.locator('nav').waitFor()
}
