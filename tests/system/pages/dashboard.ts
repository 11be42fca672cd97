import { readFileSync } from 'node:fs'
import type { MerchantBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { openDatabase, until } from '@ponte/service-kit'
import type { Page } from 'playwright-core'
import { call, createMerchant, MERCHANT, PAYER, system, world } from '../../world'
import { DESKTOP, injectWallet, openVisit, PHONE, seriousFaults } from './browser'
import { everyPage, logIn, newcomer, PASSWORD, type Stop, visit } from './every-page'
import { furnish } from './furnish'
import { browser, runPages } from './run-pages'

runPages({ merchant: false })

const views = [
  { viewport: DESKTOP, colorScheme: 'light', language: 'en' },
  { viewport: PHONE, colorScheme: 'dark', language: 'pt-BR' },
] as const
const go = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name }).click()

/** A session of a user who has a password already, without a browser. */
async function sessionOf(email: string): Promise<string> {
  const { url, publicClientKey } = world.place.identity
  const answer = await fetch(`${url}/auth/v1/token?grant_type=password`, {
    method: 'POST',
    headers: { apikey: publicClientKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  return ((await answer.json()) as { access_token: string }).access_token
}

/** Signs up, creates the store, and has the receiver trust its secret. */
async function signUp(page: Page): Promise<void> {
  await page.goto(`${system.gatewayUrl}/dashboard`)
  await page.getByRole('button', { name: 'No account yet? Create one' }).click()
  await page.getByLabel('Email').fill('ana@padaria.example')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByLabel('Store name').fill('Padaria da Ana')
  await page.getByLabel('Payout address').fill(MERCHANT.address)
  await page.getByLabel('Webhook URL').fill(world.receiverUrl)
  await page.getByRole('button', { name: 'Create store' }).click()
  await page.getByText(/^sk_live_[0-9a-f]{64}$/).waitFor()
  await page.getByRole('button', { name: 'I kept the key, go on' }).click()
  await go(page, 'Settings')
  await page.getByRole('button', { name: 'Show' }).click()
  world.receiver.trust((await page.getByText(/^whsec_[0-9a-f]{64}$/).textContent()) ?? '')
}

test('from sign-up to the first paid order, and a webhook that fails, is repaired, replayed and delivered', async () => {
  const { context, page, complaints, strangers } = await openVisit(browser)
  await injectWallet(context, world.chain, 7)
  await signUp(page)

  await go(page, 'Overview')
  const steps = page.locator('.first-steps li')
  await steps.first().waitFor()
  expect(await steps.evaluateAll(items => items.map(item => item.getAttribute('data-done')))).toEqual(['true', 'true', 'false'])
  await go(page, 'Orders')
  await page.getByText('No orders yet').waitFor()
  expect(await page.locator('main button:not([data-variant])').count()).toBe(1)
  await page.getByRole('button', { name: 'New order' }).first().click()
  await page.getByLabel('Amount').fill('1.250,00')
  await page.getByLabel('Reference', { exact: true }).fill('PED-1')
  await page.getByRole('button', { name: 'Create order' }).click()
  await page.getByRole('heading', { name: 'PED-1' }).waitFor()
  await mined(world.chain.mintUsdc(world.chain.wallet(7).address, 1_000_000_000n))
  const opening = context.waitForEvent('page')
  await page.getByRole('link', { name: 'Open the payment page' }).click()
  const checkout = await opening
  await checkout.getByRole('button', { name: /^Pay with/ }).click()
  await checkout.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
  await checkout.close()

  // The dashboard's page was open all the while.
  await page.locator('.badges').getByText('Paid', { exact: true }).waitFor()
  await page.locator('.timeline').getByText('order.paid').waitFor()
  await page.locator('.timeline').getByText('Delivered').waitFor()
  await go(page, 'Overview')
  await page.locator('.figure').getByText('R$ 1,250.00').waitFor()
  await steps.first().waitFor({ state: 'detached' })

  world.receiver.answerWith(503)
  await go(page, 'API')
  await page.getByRole('button', { name: 'Send a test event' }).click()
  await page.getByRole('link', { name: /The event is on its way/ }).click()
  await page.getByText('The server answered with an error (503)').waitFor()
  await page.getByRole('link', { name: 'Order cancelled' }).click()
  await page.getByText('HTTP 503').waitFor()
  await page.locator('pre').getByText('"external_ref":"ponte-test"').waitFor()
  world.receiver.answerWith(null)
  const failing = page.url()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.waitForURL(url => url.href !== failing)
  await page.locator('.badges').getByText('Delivered', { exact: true }).waitFor()

  await page.goto(`${system.gatewayUrl}/dashboard/orders`)
  await page.getByLabel('Search').fill('PED-1')
  await page.keyboard.press('Enter')
  await until(async () => (await page.locator('tbody tr').count()) === 1, 'the search does not narrow')
  // The reload kept the session and forgot the key.
  await go(page, 'API')
  await page.getByText('Your key is not kept here').waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
  expect(kept).toBe('[{},{}]')
  expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] })
  await context.close()
})

test('a colleague is invited, joins on a phone, works with what their role allows, and is out once removed', async () => {
  const [owner, email] = [await createMerchant(world, system.gatewayUrl), 'contadora@padaria.example']
  await world.identity.ensureUser(email, PASSWORD)
  const at = await openVisit(browser)
  await logIn(at.page, system.gatewayUrl, owner.email)
  await go(at.page, 'Team')
  await at.page.getByRole('button', { name: 'Invite', exact: true }).click()
  const dialog = at.page.getByRole('dialog')
  await dialog.getByLabel('Email').fill(email)
  await dialog.getByLabel('Role').selectOption('finance')
  await dialog.getByRole('button', { name: 'Invite', exact: true }).click()
  const link = (await dialog.getByText(/\/dashboard\/join#inv_[0-9a-f]{64}$/).textContent()) ?? ''
  await dialog.getByRole('button', { name: 'Close' }).last().click()

  const theirs = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await theirs.page.goto(link)
  await theirs.page.getByLabel('E-mail').fill(email)
  await theirs.page.getByLabel('Senha', { exact: true }).fill(PASSWORD)
  await theirs.page.locator('button[type=submit]').click()
  await theirs.page.getByRole('button', { name: 'Entrar na loja' }).click()
  await theirs.page.locator('nav').waitFor()
  expect(new URL(theirs.page.url()).pathname).toBe('/dashboard')
  await go(theirs.page, 'Equipe')
  await theirs.page.getByText(email, { exact: true }).waitFor()
  await theirs.page.getByRole('button', { name: 'Convidar' }).waitFor({ state: 'detached' })
  expect(await theirs.page.locator('.team').first().getByRole('button').count()).toBe(0)
  expect(await theirs.page.getByRole('heading', { name: 'Chaves de API com nome' }).count()).toBe(0)
  await go(theirs.page, 'Cobranças')
  await theirs.page.goto(`${system.gatewayUrl}/dashboard/orders?new=1`)
  await theirs.page.getByRole('dialog').getByLabel('Valor').fill('10,00')
  await theirs.page.getByRole('dialog').locator('button[type=submit]').click()
  await theirs.page.locator('.badges').waitFor()

  await at.page.reload()
  const row = at.page.locator('.card').first().getByRole('row', { name: email })
  await row.getByText('Finance').waitFor()
  await row.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await row.waitFor({ state: 'detached' })
  await at.page.getByText('Member removed').waitFor()
  await theirs.page.reload()
  await theirs.page.locator('input[name=display_name]').waitFor()
  expect([...at.complaints, ...theirs.complaints]).toEqual([])
  await at.context.close()
  await theirs.context.close()
})

test('an owner of two stores changes between them, approves a payout address of the other owner, and saves who changed what', async () => {
  const [first, email] = [await createMerchant(world, system.gatewayUrl), 'socia@padaria.example']
  await world.identity.ensureUser(email, PASSWORD)
  const second = await sessionOf(email)
  const mine = await call<MerchantBody>(system.gatewayUrl, 'POST', '/api/v1/merchants', second, { display_name: 'Segunda Loja' })
  const me = <T = { id: string }>(method: string, path: string, body?: object) =>
    call<T>(system.gatewayUrl, method, `/api/v1/merchants/me${path}`, first.token, body)
  const { token } = await me<{ token: string }>('POST', '/invitations', { email, role: 'owner' })
  await call(system.gatewayUrl, 'POST', '/api/v1/invitations/accept', second, { token })
  const database = openDatabase({ url: world.place.databaseUrl('api-gateway'), poolSize: 1 })
  // The two days are over that it waits to make an owner, and the owner has been one for as long.
  await database.query(
    `UPDATE merchants SET owner_changes = jsonb_set(owner_changes, '{0,activatesAt}', to_jsonb(now() - interval '1 second')),
       owner_changes_activate_at = now() - interval '1 second' WHERE id = $1`,
    [first.id],
  )
  const isOwner = async () =>
    (await database.query("SELECT 1 FROM members WHERE merchant_id = $1 AND role = 'owner'", [first.id])).rows.length === 2
  await until(isOwner, 'the second owner was not made one')
  await database.query(
    "UPDATE members SET created_at = created_at - interval '2 days', role_since = role_since - interval '2 days' WHERE merchant_id = $1",
    [first.id],
  )
  await database.stop?.()
  await me('PATCH', '', { payout_address: PAYER.address })
  const order = await me('POST', '/orders', { brl_amount: '10.00' })
  await me('POST', `/orders/${order.id}/cancel`, {})
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, email)
  const store = page.getByLabel('Store', { exact: true })
  await store.waitFor()
  // The one that they have belonged to for longest, until they choose.
  expect(await store.inputValue()).toBe(first.id)
  for (const [name, id] of [
    ['Segunda Loja', mine.id],
    ['Padaria Estrela', first.id],
  ] as const) {
    await store.selectOption(name)
    await until(async () => (await store.inputValue().catch(() => '')) === id, `the store is not ${name}`)
  }
  await go(page, 'Settings')
  // On every page stands what waits, and what to do about it.
  await page.getByRole('heading', { name: 'Waiting' }).waitFor()
  await page.getByText('the payout address changes to the one below').waitFor()
  await page.getByRole('button', { name: 'Approve the change' }).click()
  await page.getByRole('dialog').getByText(PAYER.address).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve the change' }).click()
  await page.getByText('Another owner approved it.').waitFor()
  expect(await page.getByRole('button', { name: 'Approve the change' }).count()).toBe(0)
  await page.reload()
  await go(page, 'Team')
  const row = page.getByRole('row', { name: 'New payout address approved change of the payout address socia@padaria.example' })
  await row.waitFor()
  await page.getByRole('row', { name: 'Order cancelled' }).getByRole('link').waitFor()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download CSV' }).click()])
  expect(file.suggestedFilename()).toBe('audit.csv')
  expect(readFileSync(await file.path(), 'utf8')).toMatch(/,payout_change\.approve,pending_payout_change,.*,done\r\n/)
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  expect(await page.evaluate<number>('sessionStorage.length')).toBe(0)
  expect(complaints).toEqual([])
  await context.close()
})

test('every page is in order for an accessibility checker, in English by day on a desk and in Portuguese by night on a phone, within its policy', async () => {
  const furnished = await furnish(world, system)
  const pages = everyPage(furnished)
  const faults: Record<string, string[]> = {}
  const { context, page, complaints, strangers } = await openVisit(browser)
  const look = async (name: string) => {
    const found: string[] = []
    for (const { viewport, colorScheme, language } of views) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await page.evaluate(`document.querySelector('button[lang="${language}"]').click()`)
      found.push(...(await seriousFaults(page)))
    }
    const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    if (tooWide > 0) found.push(`is ${tooWide} pixels wider than a phone`)
    if (found.length > 0) faults[name] = found
  }
  const lookAt = async (stop: Stop) => {
    await visit(page, system.gatewayUrl, stop)
    await look(stop.name)
  }
  for (const stop of newcomer('new@padaria.example')) await lookAt(stop)
  await page.locator('.rail-end button.plain').click()
  await logIn(page, system.gatewayUrl, furnished.merchant.email)
  for (const stop of [...pages.dashboard, ...pages.checkout]) await lookAt(stop)
  expect({ complaints, strangers, faults }).toEqual({ complaints: [], strangers: [], faults: {} })
  await context.close()
}, 300_000)
