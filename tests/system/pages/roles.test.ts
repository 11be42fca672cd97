import { operationList, placesOf, ROLE_PERMISSIONS, ROLES, type Role } from '@ponte/contracts'
import { openDatabase } from '@ponte/service-kit'
import type { Page } from 'playwright-core'
import { createMerchant, system, world } from '../../world'
import { openVisit } from './browser'
import { everyPage, logIn, PASSWORD, visit } from './every-page'
import { furnish } from './furnish'
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

test('no role is offered, or asks for, what it may not do, on any page', async () => {
  const furnished = await furnish(world, system)
  const pages = everyPage(furnished).dashboard.filter(({ name }) => PAGES.includes(name))
  const database = openDatabase({ url: world.place.databaseUrl('api-gateway'), poolSize: 1 })
  const wrong: string[] = []
  const offers: Record<string, string[]> = {}
  // An owner may do everything.
  for (const role of ROLES.filter(role => role !== 'owner')) {
    const email = `${role}@padaria.example`
    const userId = await world.identity.ensureUser(email, PASSWORD)
    await database.query(
      'INSERT INTO members (id, merchant_id, user_id, email, role, created_at) VALUES (gen_random_uuid(), $1, $2, $3, $4, now())',
      [furnished.merchant.id, userId, email, role],
    )
    const { context, page } = await openVisit(browser)
    page.on('request', request => {
      const found = request.url().includes('/api/v1/') ? beyond(role, request.method(), request.url()) : null
      if (found) wrong.push(found)
    })
    page.on('response', response => {
      if (response.status() === 403) wrong.push(`${role}: ${response.request().method()} ${new URL(response.url()).pathname} was refused`)
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
      if (role === 'finance' && stop.name === 'overview') await page.locator('main').getByText('New order').first().waitFor()
      const main = page.locator('main')
      offers[`${role} ${stop.name}`] = await main.locator('button:visible, a[data-variant]:visible').allInnerTexts()
      await press(page, open)
    }
    await context.close()
  }
  await database.stop?.()
  expect([...new Set(wrong)]).toEqual([])
  // Who only looks is offered what changes nothing.
  const looking = new Set(Object.entries(offers).flatMap(([name, texts]) => (name.startsWith('viewer ') ? texts : [])))
  for (const verb of [
    'New order',
    'New subscription',
    'Charge now',
    'Cancel',
    'Save',
    'Invite',
    'Send again',
    'Send a test event',
    'Mark as handled',
    'Count as paid',
  ])
    expect([...looking].filter(text => text.includes(verb))).toEqual([])
  expect(offers['developer overview']).not.toContain('New order')
  expect(offers['developer settings']?.some(text => text.includes('key'))).toBe(false)
}, 300_000)

test('who only looks is told so where the settings are, and by the address alone gets no form', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const email = 'looks@padaria.example'
  const userId = await world.identity.ensureUser(email, PASSWORD)
  const database = openDatabase({ url: world.place.databaseUrl('api-gateway'), poolSize: 1 })
  await database.query(
    "INSERT INTO members (id, merchant_id, user_id, email, role, created_at) VALUES (gen_random_uuid(), $1, $2, $3, 'viewer', now())",
    [...[merchant.id, userId, email]],
  )
  await database.stop?.()
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
}, 120_000)
