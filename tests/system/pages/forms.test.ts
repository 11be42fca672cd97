import type { List, MerchantBody, OrderBody, WebhookEndpointBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import type { Page } from 'playwright-core'
import { call, createMerchant, MERCHANT, merchant, PAYER, system, world } from '../../world'
import { DESKTOP, openVisit, seriousFaults } from './browser'
import { logIn } from './every-page'
import { join } from './join'
import { browser, runPages } from './run-pages'

// A merchant types, chooses and confirms.

runPages()

/** A page of the dashboard in a browser of its own. */
async function open(path: string, language: 'pt-BR' | 'en-US' = 'en-US') {
  const visit = await openVisit(browser, { language })
  await logIn(visit.page, system.gatewayUrl, merchant.email)
  await visit.page.goto(`${system.gatewayUrl}/dashboard${path}`)
  return visit
}
const orders = async () =>
  (await call<List<OrderBody>>(system.gatewayUrl, 'GET', '/api/v1/orders?limit=100', merchant.api_key)).data.map(order => order.brl_amount)
const payoutAddress = async () =>
  (await call<MerchantBody>(system.gatewayUrl, 'GET', '/api/v1/merchants/me', merchant.token)).payout_address
/** The complaint that a screen reader reads with a field. */
async function complaintAt(page: Page, label: string): Promise<string | null> {
  const ids = await page.getByLabel(label, { exact: true }).getAttribute('aria-describedby')
  const id = ids?.split(' ').find(each => each.endsWith('-error'))
  return id ? page.locator(`[id="${id}"]`).textContent() : null
}

test.each([
  ['that the gateway took', false],
  ['that they chose', true],
])('what was typed for a store %s reaches no other one when the user is removed from it', async (_, isChosen) => {
  const other = await createMerchant(world, system.gatewayUrl)
  const email = `${isChosen ? 'chosen' : 'taken'}@padaria.example`
  // The gateway takes the one that they have belonged to for longest.
  for (const { id } of isChosen ? [other, merchant] : [merchant, other]) await join('finance', email, id)
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, email)
  const store = page.getByLabel('Store', { exact: true })
  await store.waitFor()
  if (isChosen) await store.selectOption(merchant.id)
  await until(async () => (await store.inputValue().catch(() => '')) === merchant.id, 'the store is another one')
  await page.getByRole('navigation').getByRole('link', { name: 'Orders' }).click()
  await page.getByRole('button', { name: 'New order' }).first().click()
  const amount = page.getByRole('dialog').getByLabel('Amount')
  await amount.fill('123.45')

  const members = await call<List<{ id: string; email: string }>>(system.gatewayUrl, 'GET', '/api/v1/merchants/me/members', merchant.token)
  const mine = members.data.find(member => member.email === email)
  await call(system.gatewayUrl, 'DELETE', `/api/v1/merchants/me/members/${mine?.id}`, merchant.token)
  // The page looks again when it has a connection again, unless it looked a moment ago.
  const looksAgain = async () => {
    await context.setOffline(true)
    await context.setOffline(false)
    return page.locator('p.store').isVisible()
  }
  await until(looksAgain, 'the page does not follow')
  expect(await amount.count()).toBe(0)
  expect((await orders()).includes('123.45')).toBe(false)
  const theirs = await call<List<OrderBody>>(system.gatewayUrl, 'GET', '/api/v1/orders', other.api_key)
  expect(theirs.data).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})

/** Contrast between the edge of a field and what it holds, by WCAG. */
const EDGE_CONTRAST = `(() => {
  const linear = part => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4)
  const luminance = colour => colour.match(/\\d+/g).slice(0, 3).reduce((sum, part, at) => sum + linear(part) * [0.2126, 0.7152, 0.0722][at], 0)
  const { borderTopColor, backgroundColor } = getComputedStyle(document.querySelector('input[name=display_name]'))
  const [dark, light] = [borderTopColor, backgroundColor].map(luminance).sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
})()`

test('an amount is read as the language of the page writes it, the button shows what was read, and what is ambiguous is not guessed', async () => {
  const portuguese = await open('/orders?new=1', 'pt-BR')
  const field = portuguese.page.getByLabel('Valor')
  const create = portuguese.page.getByRole('dialog').locator('button[type=submit]')
  for (const [typed, label] of [
    ['1.234', 'Criar cobrança de R$ 1.234,00'],
    ['1.234,5', 'Criar cobrança de R$ 1.234,50'],
    ['1500.50', 'Criar cobrança de R$ 1.500,50'],
    ['12,345', 'Criar cobrança'],
  ] as const) {
    await field.fill(typed)
    await until(async () => ((await create.textContent()) ?? '').replaceAll('\u00a0', ' ') === label, `${typed} is not read as ${label}`)
  }
  await create.click()
  await until(async () => (await complaintAt(portuguese.page, 'Valor')) !== null, 'no complaint at the amount')
  expect(await complaintAt(portuguese.page, 'Valor')).toContain('centavos')
  expect(await orders()).toEqual([])
  await field.fill('12.345')
  await create.click()
  // The button shows the amount too.
  await until(async () => (await orders()).length === 1, 'no order is created')
  expect(await orders()).toEqual(['12345.00'])
  await portuguese.context.close()

  const english = await open('/orders?new=1')
  await english.page.getByLabel('Amount').fill('12,345')
  await english.page.getByRole('button', { name: 'Create order of R$ 12,345.00' }).waitFor()
  await english.page.getByLabel('Amount').fill('1.234')
  await english.page.getByRole('dialog').locator('button[type=submit]').click()
  await until(async () => (await complaintAt(english.page, 'Amount')) !== null, 'no complaint at the amount')
  expect(await orders()).toHaveLength(1)
  expect([...portuguese.complaints, ...english.complaints]).toEqual([])
  await english.context.close()
})

test('the payout address changes, or goes, only after a confirmation that shows the old and the new one', async () => {
  const { context, page, complaints } = await open('/settings')
  await page.getByLabel('Store name').fill('Padaria Nova')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved').waitFor()
  expect(await payoutAddress()).toBe(MERCHANT.address)

  await page.getByRole('button', { name: 'Change the address' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('New payout address').fill(PAYER.address)
  await dialog.getByRole('button', { name: 'Go on' }).click()
  await dialog.getByText(MERCHANT.address).waitFor()
  await dialog.getByText(PAYER.address).waitFor()
  await dialog.getByText('once it takes effect').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Back' }).click()
  expect(await payoutAddress()).toBe(MERCHANT.address)
  await dialog.getByRole('button', { name: 'Go on' }).click()
  await dialog.getByRole('button', { name: 'Change the address' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText('Another address takes effect on').waitFor()
  expect(await payoutAddress()).toBe(MERCHANT.address)
  expect(await seriousFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Cancel the change' }).click()
  await dialog.getByRole('button', { name: 'Cancel the change' }).click()
  await page.getByText('Another address takes effect on').waitFor({ state: 'hidden' })
  expect(await payoutAddress()).toBe(MERCHANT.address)

  await page.getByRole('button', { name: 'Remove the address' }).click()
  await dialog.getByText('no new order can be created').waitFor()
  expect(await payoutAddress()).toBe(MERCHANT.address)
  await dialog.getByRole('button', { name: 'Remove the address' }).click()
  await page.getByText('No payout address yet').waitFor()
  expect(await payoutAddress()).toBeNull()

  await page.getByRole('button', { name: 'Set the address' }).click()
  await dialog.getByLabel('New payout address').fill(MERCHANT.address)
  await dialog.getByRole('button', { name: 'Go on' }).click()
  await dialog.getByText('at once').waitFor()
  await dialog.getByRole('button', { name: 'Set the address' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await payoutAddress()).toBe(MERCHANT.address)
  expect(complaints).toEqual([])
  await context.close()
})

test('the tolerance is chosen, refused where it is too much, set to nothing, and left to the platform', async () => {
  const { context, page, complaints } = await open('/settings')
  const field = page.getByLabel('Short by at most (USDC)')
  const chosen = async () => (await call<MerchantBody>(system.gatewayUrl, 'GET', '/api/v1/merchants/me', merchant.token)).payment_tolerance
  const save = () => page.getByRole('button', { name: 'Save the tolerance' }).click()
  await field.waitFor()
  expect([await field.inputValue(), await chosen()]).toEqual(['', null])
  await field.fill('1.00')
  await save()
  await until(async () => (await chosen()) === '1.000000', 'the tolerance is not kept')
  await field.fill('a little')
  await save()
  await until(async () => (await complaintAt(page, 'Short by at most (USDC)')) !== null, 'no complaint at no amount')
  await field.fill('6')
  const refused = page.waitForResponse(response => response.status() === 400)
  await save()
  await refused
  await until(async () => (await complaintAt(page, 'Short by at most (USDC)')) !== null, 'no complaint at what is more than allowed')
  expect([await chosen(), await seriousFaults(page)]).toEqual(['1.000000', []])
  await field.fill('0')
  await save()
  await until(async () => (await chosen()) === '0.000000', 'the exact amount is not wanted')
  await field.fill('')
  await save()
  await until(async () => (await chosen()) === null, 'the tolerance is not taken back')
  expect(complaints).toEqual([])
  await context.close()
})

test('a complaint stands at its field and in the language of the page, whether the page or the service found it', async () => {
  const visit = await openVisit(browser, { language: 'pt-BR' })
  const { page, context, complaints } = visit
  await page.goto(`${system.gatewayUrl}/dashboard`)
  await page.locator('button[type=submit]').click()
  await until(async () => (await complaintAt(page, 'E-mail')) === 'Preencha este campo.', 'no complaint at the e-mail')
  expect(await complaintAt(page, 'Senha')).toBe('Preencha este campo.')
  expect(await page.evaluate('document.activeElement.name')).toBe('email')
  await logIn(page, system.gatewayUrl, merchant.email)

  await page.goto(`${system.gatewayUrl}/dashboard/settings`)
  await page.locator('input[name=display_name]').waitFor()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await page.evaluate<number>(EDGE_CONTRAST)).toBeGreaterThan(3)
  }
  await page.getByRole('button', { name: 'Trocar o endereço' }).click()
  const address = page.getByRole('dialog').getByLabel('Novo endereço de recebimento')
  await address.fill('0x1234')
  await page.getByRole('button', { name: 'Continuar' }).click()
  await until(async () => (await complaintAt(page, 'Novo endereço de recebimento')) !== null, 'no complaint at the address')
  // One letter in the wrong case: only the service knows the checksum.
  await address.fill(MERCHANT.address.replace(/[a-f]/, letter => letter.toUpperCase()).replace(/[A-F](?=[^A-F]*$)/, l => l.toLowerCase()))
  await page.getByRole('button', { name: 'Continuar' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Trocar o endereço' }).click()
  await until(async () => (await complaintAt(page, 'Novo endereço de recebimento')) !== null, 'no complaint of the service')
  expect(await page.getByRole('dialog').textContent()).not.toMatch(/\b(must|checksum|address of|not valid)\b/)
  await page.keyboard.press('Escape')

  await page.getByLabel('URL do webhook').fill('ftp://loja.example/')
  await page.getByRole('button', { name: 'Salvar', exact: true }).click()
  await until(async () => (await complaintAt(page, 'URL do webhook')) !== null, 'no complaint at the URL')
  expect(await page.getByRole('alert').count()).toBe(0)
  // A code that has no sentence of its own is not answered with the service's English one.
  const refusal = { code: 'payload_too_large', detail: 'The body is too large.', status: 413 }
  await page.route('**/api/v1/merchants/me', route => route.fulfill({ status: 413, json: refusal }), { times: 1 })
  await page.getByLabel('URL do webhook').fill('https://loja.example/')
  await page.getByRole('button', { name: 'Salvar', exact: true }).click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').textContent()).not.toContain('The body')
  expect(complaints).toEqual([])
  await context.close()
})

test('by keyboard alone an order is created, and focus is on the page of what was created', async () => {
  const { context, page } = await open('/orders')
  await page.getByRole('button', { name: 'New order' }).first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('10.00')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await until(async () => (await page.evaluate('document.activeElement.tagName')) !== 'BODY', 'the focus falls to the body')
  expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true)
  await context.close()
})

test('what cannot be undone is asked in red and by its verb', async () => {
  const { id } = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '9.00' })
  const { context, page } = await open(`/orders/${id}`)
  await page.getByRole('button', { name: 'Cancel order' }).click()
  const dialog = page.getByRole('dialog')
  const verb = dialog.getByRole('button', { name: 'Cancel order' })
  await verb.waitFor()
  const colour = await page.evaluate<string>(
    "getComputedStyle(document.querySelector('[role=dialog] .buttons button:last-child')).backgroundColor",
  )
  const [red = 0, green = 0] = colour.match(/\d+/g)?.map(Number) ?? []
  expect(red).toBeGreaterThan(2 * green)
  expect(await dialog.getByRole('button', { name: 'Confirm' }).count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  await verb.click()
  await page.locator('.badges').getByText('Cancelled', { exact: true }).waitFor()
  await context.close()
})

test('an endpoint is added with chosen events and headers, tested, paused and deleted, without its secrets on the page', async () => {
  const list = async () =>
    (await call<List<WebhookEndpointBody>>(system.gatewayUrl, 'GET', '/api/v1/merchants/me/webhook-endpoints', merchant.token)).data.slice(
      1,
    )
  const { page, context, complaints } = await open('/deliveries/endpoints')
  await page.getByRole('button', { name: 'Add an endpoint' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL').fill(`${world.receiverUrl}?to=erp`)
  await dialog.getByLabel('Name').fill('ERP')
  await dialog.getByLabel('All, also those to come').click()
  // However long the list of events is, the button stays in sight.
  const { y = 0, height = 0 } = (await dialog.locator('button[type=submit]').boundingBox()) ?? {}
  expect(await dialog.evaluate(node => node.scrollHeight - node.clientHeight)).toBeGreaterThan(0)
  expect(y + height).toBeLessThan(DESKTOP.height)
  for (const kind of ['Order expired', 'Part missing']) await dialog.getByLabel(kind).click()
  await dialog.getByLabel('Format').selectOption('standard')
  await dialog.getByLabel('Static headers').fill('Host: evil.example')
  await dialog.locator('button[type=submit]').click()
  await until(async () => (await complaintAt(page, 'Static headers')) !== null, 'no complaint at the headers')
  await dialog.getByLabel('Static headers').fill('X-Tenant: hush-42')
  await dialog.locator('button[type=submit]').click()
  await page.getByRole('heading', { name: 'ERP' }).waitFor()
  const [made] = await list()
  expect(made).toMatchObject({ description: 'ERP', format: 'standard', header_names: ['X-Tenant'], url: `${world.receiverUrl}?to=erp` })
  expect(made?.events).not.toContain('order.expired')
  expect(made?.events).toContain('order.settled')
  const { secret } = await call<WebhookEndpointBody>(system.gatewayUrl, 'GET', `/api/v1/webhook-endpoints/${made?.id}`, merchant.token)
  if (!secret) throw new Error('A login of the last minutes was shown no secret.')
  const content = await page.content()
  for (const text of ['hush-42', secret]) expect(content).not.toContain(text)
  expect(await seriousFaults(page)).toEqual([])

  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('link', { name: 'The test is on its way.' }).waitFor()
  await until(() => world.receiver.received.some(({ body }) => body.includes('endpoint.test')), 'the test did not arrive')
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  expect((await list())[0]?.paused).toBe(true)
  await page.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await until(async () => (await list()).length === 0, 'the endpoint is still there')
  expect(complaints).toEqual([])
  await context.close()
})
