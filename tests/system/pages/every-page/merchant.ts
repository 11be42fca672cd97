import { PAYER } from '../../../world'
import { dialog, type Shown, type Stop, settled } from './stop'

export const dashboard = (name: string, path: string, ready: Stop['ready'] = settled): Stop => ({ name, path: `/dashboard${path}`, ready })

/** The pages of a merchant who has a little of everything. */
export const merchantPages = (of: Shown, missing: string): Stop[] => [
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
  dashboard('links', '/links'),
  dashboard('new-link', '/links?new=1', dialog),
  dashboard('link-share', '/links', async page => {
    await settled(page)
    await page
      .getByRole('button', { name: /^(Compartilhar|Share): FAT-31$/ })
      .first()
      .click()
    await page.locator('.share-code path').waitFor()
  }),
  dashboard('link-print', `/links/${of.link.id}/print`, page => page.locator('.poster path').waitFor()),
  dashboard('month', '/month'),
  dashboard('attention', '/attention'),
  dashboard('attention-open', '/attention', async page => {
    await settled(page)
    await page.locator('.case').first().click()
    await page.locator('.attention-entry').waitFor()
  }),
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
  dashboard('own-login', '/login'),
  dashboard('settings', '/settings'),
  dashboard('payout-address', '/settings', async page => {
    await settled(page)
    await page.locator('.card').nth(1).locator('.buttons').last().locator('button').first().click()
    await page.getByRole('dialog').locator('input').fill(PAYER.address)
    await page.getByRole('dialog').locator('button[type=submit]').click()
    await page.getByRole('dialog').getByText(PAYER.address).waitFor()
  }),
  dashboard('settings-rotated', '/settings', async page => {
    await settled(page)
    await page.locator('.card').nth(5).locator('.buttons button').click()
    await page.getByRole('dialog').locator('.buttons button').last().click()
    await page.getByText(/^sk_live_/).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }),
]
