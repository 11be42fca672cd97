import { type System, startAll } from '@ponte/all-in-one'
import type { LinkBody, List, OrderBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import type { Browser } from 'playwright-core'
import { call, createMerchant, pay, startWorld, type World } from '../../world'
import { openBrowser, openVisit, PHONE, seriousFaults } from './browser'
import { logIn } from './every-page'

// A merchant without a developer makes a link, a payer opens an order on it, and both see that it is paid.

let world: World
let system: System
let browser: Browser
let merchant: Awaited<ReturnType<typeof createMerchant>>
beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, { logger: world.logger })
  merchant = await createMerchant(world, system.gatewayUrl)
  browser = await openBrowser()
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await system?.stop()
  await world?.stop()
})

const read = <T>(path: string) => call<T>(system.gatewayUrl, 'GET', `/api/v1/${path}`, merchant.api_key)
const create = (body: object) =>
  call<LinkBody>(system.gatewayUrl, 'POST', '/api/v1/links', merchant.api_key, { kind: 'invoice', description: 'Bolo', ...body })

test('a link is made on its page, opened by a payer on a phone, paid, and shown as paid to both', async () => {
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/links`)
  await page.getByText('No link yet').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'New link' }).first().click()
  const form = page.getByRole('dialog')
  await form.getByRole('button', { name: 'Create the link' }).click()
  await form.locator('[aria-invalid=true]').first().waitFor()
  await form.getByRole('textbox', { name: 'Amount' }).fill('150,00')
  await form.getByLabel('Description').fill('Consulting, November')
  await form.getByLabel('Due date').fill('2099-12-31')
  expect(await seriousFaults(page)).toEqual([])
  await form.getByRole('button', { name: 'Create the link' }).click()
  await page.getByText('Consulting, November').first().waitFor()
  const [link] = (await read<List<LinkBody>>('links')).data
  expect(link).toMatchObject({ kind: 'invoice', status: 'open', brl_amount: '150.00', orders_paid: 0, order_id: null })

  const payer = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await payer.page.goto(link?.url ?? '')
  await payer.page.getByRole('heading', { level: 1, name: 'Padaria Estrela' }).waitFor()
  expect(await payer.page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  expect(await seriousFaults(payer.page)).toEqual([])
  // Looked at and not opened.
  expect((await read<LinkBody>(`links/${link?.id}`)).order_id).toBeNull()
  await payer.page.getByRole('button', { name: 'Pagar agora' }).click()
  await payer.page.waitForURL(/\/pay\/[0-9a-f-]{36}$/)
  const order = await read<OrderBody>(`orders/${payer.page.url().split('/').at(-1)}`)
  expect(order).toMatchObject({ brl_amount: '150.00', description: 'Consulting, November' })
  await payer.page.goto(link?.url ?? '')
  await payer.page.getByRole('heading', { name: 'Pagamento começado' }).waitFor()
  await pay(world.chain, order)
  await until(async () => (await read<LinkBody>(`links/${link?.id}`)).status === 'paid', 'the link is not paid')
  await payer.page.reload()
  await payer.page.getByRole('heading', { name: 'Pago' }).waitFor()
  await payer.page.getByRole('link', { name: 'Ver o recibo' }).click()
  await payer.page.waitForURL(/receipt/)
  await page.getByText('Paid', { exact: true }).waitFor()
  expect({ complaints, payers: payer.complaints }).toEqual({ complaints: [], payers: [] })
  await payer.context.close()
  await context.close()
}, 120_000)

test('a payer chooses an amount within the bounds, and one outside them is refused on the page', async () => {
  const link = await create({ kind: 'reusable', brl_amount_min: '10.00', brl_amount_max: '50.00' })
  const { context, page, complaints } = await openVisit(browser)
  await page.goto(link.url)
  await page.getByLabel('Amount in reais').fill('50.01')
  await page.getByRole('button', { name: 'Pay now' }).click()
  await page.getByRole('heading', { name: 'Check the amount' }).waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await page.getByLabel('Amount in reais').fill('25.50')
  await page.getByRole('button', { name: 'Pay now' }).click()
  await page.waitForURL(/\/pay\/[0-9a-f-]{36}$/)
  expect((await read<OrderBody>(`orders/${page.url().split('/').at(-1)}`)).brl_amount).toBe('25.50')
  expect(complaints.filter(complaint => !complaint.includes('400'))).toEqual([])
  await context.close()
}, 60_000)

test('a link is ended on its page, and opens nothing any more', async () => {
  const link = await create({ brl_amount: '20.00', external_ref: 'END-1' })
  const { context, page } = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/links`)
  const row = page.getByRole('row').filter({ hasText: 'END-1' })
  await row.getByRole('button', { name: 'Encerrar' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Encerrar', exact: true }).click()
  await row.getByText('Encerrado').waitFor()
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  await page.goto(link.url)
  await page.getByRole('heading', { name: 'Link encerrado' }).waitFor()
  await page.goto(`${system.gatewayUrl}/pay/link/${link.id}`)
  await page.getByRole('heading', { name: 'Link não encontrado' }).waitFor()
  await context.close()
}, 60_000)

test('a message previews a link with shop and amount, of pages that no search engine keeps, and opens nothing', async () => {
  const attack = `Bolo "><script>alert(1)</script> d'água`
  const link = await create({ brl_amount: '1520.00', description: attack, external_ref: 'PRIVATE-1', metadata: { seat: 'PRIVATE-2' } })
  for (const [method, agent] of [
    ['GET', 'WhatsApp/2.23'],
    ['HEAD', 'facebookexternalhit/1.1'],
    ['GET', 'TelegramBot (like TwitterBot)'],
  ] as const)
    await fetch(link.url, { method, headers: { 'user-agent': agent } })
  const answer = await fetch(link.url)
  expect(answer.headers.get('cache-control')).toBe('no-cache')
  const text = await answer.text()
  expect(text).toContain('<meta property="og:title" content="Padaria Estrela · R$ 1.520,00">')
  expect(text).toContain('<meta name="robots" content="noindex"')
  expect(text).not.toMatch(/PRIVATE|alert\(1\)<\/script>/)
  const [, picture = ''] = /property="og:image" content="([^"]+)"/.exec(text) ?? []
  expect((await fetch(picture)).headers.get('content-type')).toBe('image/png')
  expect(await read<LinkBody>(`links/${link.id}`)).toMatchObject({ order_id: null, orders_paid: 0 })

  const { context, page, complaints } = await openVisit(browser)
  await page.goto(link.url)
  await page.getByText(attack).waitFor()
  expect(await page.locator('meta[property="og:description"]').getAttribute('content')).toBe(attack)
  await page.getByRole('button', { name: 'Pay now' }).click()
  await page.waitForURL(/\/pay\/[0-9a-f-]{36}$/)
  expect(await (await fetch(page.url())).text()).toContain('<meta property="og:title" content="Padaria Estrela · R$ 1.520,00">')
  expect(complaints).toEqual([])
  await context.close()
}, 60_000)
