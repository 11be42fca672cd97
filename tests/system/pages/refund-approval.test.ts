import type { MerchantBody, OrderBody, RefundListBody, Role } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import type { Page } from 'playwright-core'
import { call, merchant, pay, system, units, world } from '../../world'
import { DESKTOP, injectWallet, openVisit, PHONE, seriousFaults } from './browser'
import { logIn } from './every-page'
import { join } from './join'
import { browser, runPages } from './run-pages'

// Above the limit that an owner chose a refund takes two members: the owner asks, another member approves, and no one of support is offered any of it.

const MERCHANT_ACCOUNT = 2
runPages()
beforeAll(async () => {
  await mined(world.chain.mintUsdc(world.chain.wallet(MERCHANT_ACCOUNT).address, 100_000_000n))
})

async function colleague(role: Role): Promise<string> {
  const email = `${role}-${merchant.id.slice(-6)}@padaria.example`
  await join(role, email, merchant.id)
  return email
}
const card = (page: Page, name: string) => page.locator('.card').filter({ has: page.getByRole('heading', { name, exact: true }) })

test('the limit is chosen on the page of settings, zero too, and taken back', async () => {
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/settings`)
  const field = page.getByLabel('Two members above (USDC)')
  const chosen = async () =>
    (await call<MerchantBody>(system.gatewayUrl, 'GET', '/api/v1/merchants/me', merchant.token)).refund_approval_above
  for (const [text, kept] of [
    ['0', '0.000000'],
    ['', null],
    ['2.50', '2.500000'],
  ] as const) {
    await field.fill(text)
    await page.getByRole('button', { name: 'Save the limit' }).click()
    await until(async () => (await chosen()) === kept, `the limit is not ${kept}`)
  }
  expect(await seriousFaults(page)).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})

test('an owner asks, a colleague approves on a phone in Portuguese, support is offered nothing, and the owner signs', async () => {
  const { token } = merchant
  await call(system.gatewayUrl, 'PATCH', '/api/v1/merchants/me', token, { refund_approval_above: '2.50' })
  const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  await pay(world.chain, order, units(order.usdc_amount) + 5_000_000n)
  await system.idle()
  const payee = Wallet.createRandom().address
  const body = { surplus: true, payee_address: payee, reason: 'Paid too much' }
  await call(system.gatewayUrl, 'POST', `/api/v1/merchants/me/orders/${order.id}/refunds`, token, body)
  const found = async () =>
    (await call<RefundListBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}/refunds`, merchant.api_key)).data[0]
  expect(await found()).toMatchObject({ needs_approval: true })
  const visit = async (email: string, title: string, options: Parameters<typeof openVisit>[1] = {}) => {
    const visited = await openVisit(browser, options)
    await injectWallet(visited.context, world.chain, MERCHANT_ACCOUNT)
    await logIn(visited.page, system.gatewayUrl, email)
    await visited.page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
    await card(visited.page, title).waitFor()
    return { ...visited, refunds: card(visited.page, title) }
  }

  const owner = await visit(merchant.email, 'Refunds', { viewport: DESKTOP })
  await owner.refunds.getByText('another member has to approve or sign').waitFor()
  expect(await owner.refunds.getByRole('button').allInnerTexts()).toEqual(expect.not.arrayContaining(['Approve']))
  expect(await owner.refunds.getByRole('button', { name: /^Sign/ }).count()).toBe(0)
  expect(await seriousFaults(owner.page)).toEqual([])

  const support = await visit(await colleague('support'), 'Refunds')
  await support.refunds.getByText('Your signature is missing').waitFor()
  expect(await support.refunds.getByRole('button', { name: /Approve|Sign|Cancel|Return|Ask/ }).count()).toBe(0)

  const finance = await visit(await colleague('finance'), 'Devoluções', { viewport: PHONE, locale: 'pt-BR' })
  await finance.refunds.getByText('aprove, ou assine você').waitFor()
  expect(await finance.refunds.getByRole('button', { name: /^Assinar/ }).count()).toBe(1)
  expect(await seriousFaults(finance.page)).toEqual([])
  await finance.refunds.getByRole('button', { name: 'Aprovar' }).click()
  const dialog = finance.page.getByRole('dialog')
  await dialog.getByText(payee).waitFor()
  // All of the address is on the screen.
  const isCut = 'const { scrollWidth, clientWidth } = document.querySelector("[role=dialog]"); scrollWidth > clientWidth'
  expect(await finance.page.evaluate(isCut)).toBe(false)
  expect(await seriousFaults(finance.page)).toEqual([])
  await dialog.getByRole('button', { name: 'Aprovar' }).click()
  await finance.refunds.getByText('Aprovada por finance-').waitFor()
  expect(await found()).toMatchObject({ needs_approval: false, approved_by: expect.any(String) })

  // The colleague joined after this page had read the members.
  await owner.refunds.getByText('Approved by').waitFor()
  await owner.refunds.getByRole('button', { name: /^Sign/ }).click()
  await owner.refunds.getByText('Returned', { exact: true }).waitFor()
  expect(await world.chain.balanceOf(payee)).toBe(5_000_000n)
  for (const { complaints, strangers, context } of [owner, support, finance]) {
    expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] })
    await context.close()
  }
})
