import { operationList, placesOf, ROLE_PERMISSIONS, ROLES, type Role } from '@ponte/contracts'
import type { Page } from 'playwright-core'
import { createMerchant, system, world } from '../../world'
import { openVisit } from './browser'
import { everyPage, logIn, visit } from './every-page'
import { furnish } from './furnish'
import { join } from './join'
import { browser, runPages } from './run-pages'

// What the pages offer to each role, held against the table of operations.

runPages({ merchant: false })

const routes = operationList.flatMap(([id, operation]) =>
  placesOf(operation).map(({ path }) => ({
    ...{ id, method: operation.method.toUpperCase(), pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`) },
    needed: [...(operation.permission === null ? [] : [operation.permission]), ...(operation.also ?? [])],
  })),
)

/** What a role asked for that it may not do. */
function beyond(role: Role, method: string, url: string): string | null {
  const { pathname } = new URL(url)
  // A path that names a thing matches that of another operation too: the one without a name comes first.
  const route = routes
    .filter(one => one.method === method && one.pattern.test(pathname))
    .sort((a, b) => String(b.pattern).length - String(a.pattern).length)[0]
  const missing = route?.needed.find(permission => !ROLE_PERMISSIONS[role].includes(permission))
  return missing === undefined ? null : `${role}: ${route?.id} needs ${missing}`
}

/** Presses what is offered on this page, each kind once, and says yes to what is asked; nothing of it reaches the gateway. */
async function press(page: Page, open: () => Promise<void>): Promise<void> {
  const texts = new Set(await page.locator('main button:visible').allInnerTexts())
  for (const text of [...texts].filter(text => text !== '' && !READS.test(text))) {
    await open()
    const button = page.locator('main button:visible:enabled').filter({ hasText: text }).first()
    if ((await button.count()) === 0) continue
    await button.click()
    const yes = page.getByRole('dialog').locator('button:visible:enabled').last()
    if ((await yes.count()) > 0) await yes.click()
  }
}
/** What asks for nothing that a role could lack. */
const READS = /^(Copy|Download|Older|Newer|7 days|30 days|All|Open)/

const PAGES = ['overview', 'order-open', 'attention', 'attention-open', 'subscription', 'deliveries', 'endpoints', 'team', 'settings']

let furnished: Awaited<ReturnType<typeof furnish>>
beforeAll(async () => {
  furnished = await furnish(world, system)
})

/** Verbs of what changes something. */
const VERBS = [
  ...['New order', 'New subscription', 'Charge now', 'Cancel', 'Save', 'Invite', 'Send again', 'Send a test event', 'Mark as handled'],
  'Count as paid',
]

// An owner may do everything.
test.each(ROLES.filter(role => role !== 'owner'))(
  '%s is offered, and asks for, nothing that this role may not do, on any page',
  async role => {
    const pages = everyPage(furnished).dashboard.filter(({ name }) => PAGES.includes(name))
    const email = `${role}@padaria.example`
    await join(role, email, furnished.merchant.id)
    const wrong = new Set<string>()
    const offers: Record<string, string[]> = {}
    const { context, page } = await openVisit(browser)
    page.on('request', request => {
      const found = request.url().includes('/api/v1/') ? beyond(role, request.method(), request.url()) : null
      if (found) wrong.add(found)
    })
    page.on('response', response => {
      if (response.status() === 403) wrong.add(`${response.request().method()} ${new URL(response.url()).pathname} was refused`)
    })
    await logIn(page, system.gatewayUrl, email)
    for (const stop of pages) {
      const open = async () => {
        await visit(page, system.gatewayUrl, stop)
        // Until the role is known nothing is offered.
        await page.locator(`.frame[data-role=${role}]`).waitFor()
        await page.route('**/api/v1/**', route =>
          route.request().method() === 'GET' ? route.fallback() : route.fulfill({ status: 409, json: { code: 'invalid_state' } }),
        )
      }
      await open()
      const main = page.locator('main')
      if (role === 'finance' && stop.name === 'overview') await main.getByText('New order').first().waitFor()
      offers[stop.name] = await main.locator('button:visible, a[data-variant]:visible').allInnerTexts()
      await press(page, open)
    }
    await context.close()
    expect([...wrong]).toEqual([])
    // A viewer is offered what changes nothing.
    const looking = role === 'viewer' ? Object.values(offers).flat() : []
    expect(looking.filter(text => VERBS.some(verb => text.includes(verb)))).toEqual([])
    if (role !== 'developer') return
    expect(offers.overview).not.toContain('New order')
    expect(offers.settings?.some(text => text.includes('key'))).toBe(false)
  },
  180_000,
)

test('who only looks is told so where the settings are, and by the address alone gets no form', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const email = 'looks@padaria.example'
  await join('viewer', email, merchant.id)
  const { context, page, complaints } = await openVisit(browser, { language: 'pt-BR' })
  await logIn(page, system.gatewayUrl, email)
  await page.goto(`${system.gatewayUrl}/dashboard/settings`)
  await page.getByText('Com o seu papel (').waitFor()
  expect(await page.locator('main input:enabled').count()).toBe(0)
  for (const what of ['orders', 'subscriptions']) {
    await page.goto(`${system.gatewayUrl}/dashboard/${what}?new=1`)
    await page.locator('main h1').waitFor()
    await page.getByText('O seu papel nesta loja não permite isto').waitFor()
    expect(await page.locator('input[name=brl_amount]').count()).toBe(0)
  }
  await page.goto(`${system.gatewayUrl}/dashboard/deliveries/endpoints`)
  await page.getByText('O seu papel não vê os endpoints.').waitFor()
  expect(complaints).toEqual([])
  await context.close()
})
