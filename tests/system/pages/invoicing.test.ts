import type { OrderBody, SubscriptionBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import type { Page } from 'playwright-core'
import { call, merchant, system } from '../../world'
import { openVisit, PHONE, seriousFaults } from './browser'
import { logIn } from './every-page'
import { join } from './join'
import { browser, runPages } from './run-pages'

// Customer and fiscal document are named, changed and erased on the pages of an order and of a subscription; no payer sees them.

runPages()

const KEY = '35261112ABC34501DE35550010000000071123456789'
const create = <T>(path: string, body: object) => call<T>(system.gatewayUrl, 'POST', `/api/v1/${path}`, merchant.api_key, body)
const read = <T>(path: string) => call<T>(system.gatewayUrl, 'GET', `/api/v1/${path}`, merchant.api_key)
const card = (page: Page, name: string) => page.locator('.card').filter({ has: page.getByRole('heading', { name, exact: true }) })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

test('an order is given its customer and its document, each checked at its field, and loses them again', async () => {
  const order = await create<OrderBody>('orders', { brl_amount: '150.00' })
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
  await press(page, 'Name the customer')
  await page.getByLabel('Name', { exact: true }).fill('Ana Souza')
  const taxId = page.getByLabel('CPF or CNPJ')
  await taxId.fill('123.456.789-00')
  await press(page, 'Save')
  await page.getByText('This is neither a CPF nor a CNPJ').waitFor()
  await taxId.fill('12.abc.345/01de-35')
  await press(page, 'Save')
  await card(page, 'Customer').getByText('12.ABC.345/01DE-35').waitFor()

  await press(page, 'Name the document')
  const key = page.getByLabel('Access key')
  await key.fill(`${KEY.slice(0, -1)}8`)
  await press(page, 'Save')
  await page.getByText('This is no key of this kind').waitFor()
  await key.fill(KEY.replace(/(.{4})/g, '$1 '))
  await press(page, 'Save')
  await card(page, 'Fiscal document').getByText('NF-e or NFC-e').waitFor()
  expect(await read<OrderBody>(`orders/${order.id}`)).toMatchObject({
    customer: { name: 'Ana Souza', email: null, tax_id: '12ABC34501DE35', resident: null },
    fiscal_document: { kind: 'nfe', key: KEY },
  })
  expect({ complaints, faults: await seriousFaults(page) }).toEqual({ complaints: [], faults: [] })

  const { context: payers, page: checkout } = await openVisit(browser)
  await checkout.goto(`${system.gatewayUrl}/pay/${order.id}`)
  await checkout.getByText('150.00').first().waitFor()
  expect(await checkout.content()).not.toMatch(/Souza|12ABC34501DE35/)
  await payers.close()

  for (const action of ['Erase the customer', 'Remove the document']) {
    await press(page, action)
    await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click()
  }
  await card(page, 'Customer').getByText('No customer is named').waitFor()
  await card(page, 'Fiscal document').getByText('No document is named').waitFor()
  const left = await read<OrderBody>(`orders/${order.id}`)
  expect('customer' in left || 'fiscal_document' in left).toBe(false)
  await context.close()
})

test('in Portuguese on a phone a subscription is given its customer, whom a charge then has', async () => {
  const { id } = await create<SubscriptionBody>('subscriptions', { brl_amount: '49.90' })
  const { context, page } = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/subscriptions/${id}`)
  await press(page, 'Informar cliente')
  await page.getByLabel('E-mail').fill('ana@padaria.example')
  await page.getByLabel('Residente no Brasil').selectOption('yes')
  await press(page, 'Salvar')
  await card(page, 'Cliente').getByText('ana@padaria.example').waitFor()
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  expect(await seriousFaults(page)).toEqual([])
  const charged = await create<{ id?: string; order_id?: string }>(`subscriptions/${id}/charge`, {})
  await system.idle()
  const order = await read<OrderBody>(`orders/${charged.id ?? charged.order_id}`)
  expect(order.customer).toEqual({ name: null, email: 'ana@padaria.example', tax_id: null, resident: true })
  const erased = await create<object>('customers/erase', { email: 'ANA@padaria.example' })
  expect(erased).toEqual({ object: 'customer_erasure', orders: 1, links: 0, subscriptions: 1 })
  await card(page, 'Cliente').getByText('Nenhum cliente informado').waitFor()
  await context.close()
})

test('a customer who asks for it is erased everywhere, from the settings or from one of their orders, and the page says of how much', async () => {
  const of = (customer: object) => create<OrderBody>('orders', { brl_amount: '10.00', customer })
  const bia = { name: 'Bia Lima', tax_id: '123.456.789-09' }
  const kept = await of({ name: 'Caio Reis', email: 'caio@padaria.example' })
  const [first, second] = [await of(bia), await of({ ...bia, email: 'bia@padaria.example' })]
  await create<SubscriptionBody>('subscriptions', { brl_amount: '49.90', customer: { email: 'Bia@padaria.example' } })
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/settings`)
  await card(page, 'Privacy').getByRole('button', { name: 'Erase the customer' }).click()
  const field = page.getByLabel('CPF, CNPJ or email')
  await field.fill('123.456.789-00')
  await press(page, 'Erase everywhere')
  await page.getByText('This is neither a CPF nor a CNPJ, nor a mail address').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await field.fill('123.456.789-09')
  await press(page, 'Erase everywhere')
  await card(page, 'Privacy').getByText('Erased from 2 orders and 0 subscriptions.').waitFor()
  for (const { id } of [first, second]) expect('customer' in (await read<OrderBody>(`orders/${id}`))).toBe(false)

  await create('orders', { brl_amount: '10.00', customer: { email: 'BIA@padaria.example' } })
  const named = await of({ ...bia, email: 'bia@padaria.example' })
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${named.id}`)
  await press(page, 'Erase everywhere')
  await page.getByRole('dialog').getByRole('button', { name: 'Erase everywhere', exact: true }).click()
  await card(page, 'Customer').getByText('Erased from 2 orders and 1 subscription.').waitFor()
  await card(page, 'Customer').getByText('No customer is named').waitFor()
  expect(await read<OrderBody>(`orders/${kept.id}`)).toMatchObject({ customer: { name: 'Caio Reis' } })
  expect({ complaints, faults: await seriousFaults(page) }).toEqual({ complaints: [], faults: [] })
  await context.close()
})

test('in Portuguese on a phone a customer whom no order has is erased from nothing; a session that is not fresh erases none', async () => {
  const { context, page } = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/settings`)
  const erase = async () => {
    await card(page, 'Privacidade').getByRole('button', { name: 'Apagar cliente' }).click()
    await page.getByLabel('CPF, CNPJ ou e-mail').fill('ninguem@padaria.example')
    await press(page, 'Apagar em tudo')
  }
  await erase()
  await card(page, 'Privacidade').getByText('Nenhuma cobrança, link de pagamento ou assinatura tinha este cliente.').waitFor()
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  await page.route('**/customers/erase', route =>
    route.fulfill({
      status: 403,
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: 'about:blank', title: 'Forbidden', status: 403, code: 'fresh_login_required', detail: 'Log in again.' }),
    }),
  )
  await erase()
  await page.getByText('Para sua segurança: saia, entre de novo').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await context.close()
})

test('a member who only reads sees both and is offered no change; the list shows what has no document', async () => {
  const named = await create<OrderBody>('orders', {
    ...{ brl_amount: '10.00', external_ref: 'WITH', customer: { name: 'Bia Lima' }, fiscal_document: { kind: 'nfe', key: KEY } },
  })
  await create('orders', { brl_amount: '10.00', external_ref: 'WITHOUT' })
  const email = `viewer-${merchant.id.slice(-6)}@padaria.example`
  await join('viewer', email, merchant.id)
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, email)
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${named.id}`)
  await card(page, 'Customer').getByText('Bia Lima').waitFor()
  expect(await page.getByRole('button', { name: /customer|document/i }).count()).toBe(0)
  await page.goto(`${system.gatewayUrl}/dashboard/orders`)
  await page.getByLabel('Fiscal document').selectOption('false')
  await page.getByText('WITHOUT', { exact: true }).waitFor()
  await until(async () => (await page.getByText('WITH', { exact: true }).count()) === 0, 'the list still has what has a document')
  expect(complaints).toEqual([])
  await context.close()
})
