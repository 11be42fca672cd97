import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { openDatabase, until } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import type { Page } from 'playwright-core'
import { call, merchant, pay, system, units, world } from '../../world'
import { DESKTOP, injectWallet, openVisit, PHONE, seriousFaults } from './browser'
import { logIn } from './every-page'
import { browser, runPages } from './run-pages'

// A merchant returns money from the page of an order, with the wallet of the payout address in the browser.

const MERCHANT_ACCOUNT = 2
// No server listens there: mails wait in the gateway's table.
const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'Ponte <no-reply@ponte.example>' }
runPages({ settings: { 'api-gateway': mail } })
beforeAll(async () => {
  await mined(world.chain.mintUsdc(world.chain.wallet(MERCHANT_ACCOUNT).address, 100_000_000n))
})

const card = (page: Page) => page.locator('.card').filter({ has: page.getByRole('heading', { name: 'Refunds', exact: true }) })
async function overpaid(): Promise<OrderBody> {
  const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  await pay(world.chain, order, units(order.usdc_amount) + 5_000_000n)
  await system.idle()
  return order
}

test.each([
  ['on a desk', DESKTOP, MERCHANT_ACCOUNT],
  ['on a phone, first with the wallet at another account', PHONE, 5],
])('what is left over goes back to the address that the payer named, %s', async (_, viewport, first) => {
  const order = await overpaid()
  const { context, page, complaints, strangers } = await openVisit(browser, { viewport })
  const wallet = await injectWallet(context, world.chain, first)
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
  await card(page).getByText('5.00 USDC are left over').waitFor()
  await card(page).getByRole('button', { name: 'Return money' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByLabel('Amount in USDC').inputValue()).toBe('5.00')
  await dialog.getByLabel('Why, for your records').fill('Paid too much')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  // A plain transfer does not prove the payer's address.
  await dialog.getByText('Write an address that the payer gave you').waitFor()
  const payee = Wallet.createRandom().address
  await dialog.getByLabel('Address of who receives it').fill(payee)
  expect(await seriousFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await card(page).getByText('Your signature is missing').waitFor()
  const sign = card(page).getByRole('button', { name: /^Sign/ })
  if (first !== MERCHANT_ACCOUNT) {
    await sign.click()
    await card(page).getByText('Your wallet is at another account').waitFor()
    wallet.account = MERCHANT_ACCOUNT
  }
  wallet.refuse('eth_signTypedData_v4')
  await sign.click()
  await card(page).getByText('You refused in your wallet').waitFor()
  await sign.click()
  await card(page).getByText('Returned', { exact: true }).waitFor()
  expect(await world.chain.balanceOf(payee)).toBe(5_000_000n)
  expect(await card(page).getByText('are left over').count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] })
  await context.close()
})

test('a refund that is not signed can be cancelled, and who may only read is offered nothing', async () => {
  const order = await overpaid()
  const { context, page } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
  await card(page).getByRole('button', { name: 'Return money' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Amount in USDC').fill('1,000')
  await dialog.getByLabel('Address of who receives it').fill(Wallet.createRandom().address)
  await dialog.getByLabel('Why, for your records').fill('A part')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByText('up to what may still go back').waitFor()
  await dialog.getByLabel('Amount in USDC').fill('1.5')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  // No wallet is in this browser.
  await card(page).getByText('Open this page in the browser that has this wallet').waitFor()
  await card(page).getByRole('button', { name: 'Cancel the refund' }).click()
  await dialog.getByRole('button', { name: 'Cancel the refund' }).click()
  await card(page).getByText('Cancelled', { exact: true }).waitFor()
  await context.close()
})

test.each([
  ['on a phone, in Portuguese', PHONE, 'pt-BR'],
  ['on a desk, in English', DESKTOP, 'en-US'],
])('a payer names the address by a link, and the merchant signs for it, %s', async (_, viewport, locale) => {
  const order = await overpaid()
  const { payments } = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
  const paid = payments?.[0]
  const shop = await openVisit(browser)
  await injectWallet(shop.context, world.chain, MERCHANT_ACCOUNT)
  await logIn(shop.page, system.gatewayUrl, merchant.email)
  await shop.page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
  await card(shop.page).getByRole('button', { name: 'Ask the payer for an address' }).click()
  const dialog = shop.page.getByRole('dialog')
  await dialog.getByLabel('Why, for your records').fill('Paid too much, from an exchange')
  expect(await seriousFaults(shop.page)).toEqual([])
  await dialog.getByRole('button', { name: 'Continue' }).click()
  const link = await card(shop.page).getByRole('link', { name: 'See the page' }).getAttribute('href')

  const payer = await openVisit(browser, { viewport, locale })
  const { page } = payer
  const shows = (status: string) => page.locator(`main[data-status=${status}]`).waitFor()
  const field = (name: string) => page.locator(`input[name=${name}]`)
  const goOn = page.locator('button.primary')
  await page.goto(`${link}/`)
  await shows('open')
  const payee = Wallet.createRandom().address
  await field('payee_address').fill(payee)
  await field('tx_hash').fill(`https://explorer.example/tx/${paid?.tx_hash}`)
  await field('amount').fill('1')
  expect(await seriousFaults(page)).toEqual([])
  await goOn.click()
  await page.getByText(payee.slice(-4)).waitFor()
  await goOn.click()
  await page
    .getByRole('alert')
    .getByText(locale === 'pt-BR' ? 'Não há, com este código' : 'No payment of this invoice')
    .waitFor()
  const came = String(paid?.amount)
  await field('amount').fill(locale === 'pt-BR' ? came.replace('.', ',') : came)
  await goOn.click()
  await page.getByText(payee.slice(-4)).waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await goOn.click()
  await shows('claimed')

  await card(shop.page).getByText('named through the link').waitFor()
  await card(shop.page).getByRole('button', { name: /^Sign/ }).click()
  await card(shop.page).getByText('Returned', { exact: true }).waitFor()
  await shows('confirmed')
  expect(await world.chain.balanceOf(payee)).toBe(5_000_000n)
  for (const { complaints, strangers } of [shop, payer]) expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] })
  await shop.context.close()
  await payer.context.close()
})

/** The code that orders has mailed, once the gateway has its mail. */
async function codeTo(email: string): Promise<string> {
  const open = (name: 'api-gateway' | 'orders') => openDatabase({ url: world.place.databaseUrl(name), poolSize: 1 })
  const [mails, outbox] = [open('api-gateway'), open('orders')] as const
  const isMailed = async () => (await mails.query('SELECT 1 FROM mails WHERE address = $1', [email])).rows.length > 0
  await until(isMailed, `No mail goes to ${email}.`)
  const { rows } = await outbox.query<{ body: string }>(
    "SELECT body FROM outbox WHERE type = 'refund_claim.code_issued' AND body LIKE $1 ORDER BY id DESC",
    [`%${email}%`],
  )
  for (const database of [mails, outbox]) await database.stop?.()
  return JSON.parse(rows[0]?.body ?? '').data.code
}

const words = {
  'pt-BR': {
    hint: 'p…@shop.example',
    send: 'Enviar o código',
    another: 'Enviar outro código em',
    sent: 'Código enviado',
    wrong: 'Este código não é o último',
  },
  'en-US': {
    hint: 'p…@shop.example',
    send: 'Send the code',
    another: 'Send another code in',
    sent: 'The code is on its way',
    wrong: 'This is not the code',
  },
} as const

test.each([
  ['on a phone, in Portuguese', PHONE, 'pt-BR', 'payer-of-a-phone@shop.example'],
  ['on a desk, in English', DESKTOP, 'en-US', 'payer-of-a-desk@shop.example'],
] as const)(
  'where the shop knows the payer’s mail address, an address takes the code that goes there, %s',
  async (_, viewport, locale, email) => {
    const own = words[locale]
    const order = await overpaid()
    const { payments } = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
    const paid = payments?.[0]
    const shop = await openVisit(browser)
    await logIn(shop.page, system.gatewayUrl, merchant.email)
    await shop.page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
    await card(shop.page).getByRole('button', { name: 'Ask the payer for an address' }).click()
    const dialog = shop.page.getByRole('dialog')
    await dialog.getByLabel('Why, for your records').fill('Paid too much, from an exchange')
    await dialog.getByLabel('E-mail address of the payer').fill('payer at shop')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByText('Write an email address').waitFor()
    await dialog.getByLabel('E-mail address of the payer').fill(email)
    expect(await seriousFaults(shop.page)).toEqual([])
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await card(shop.page).getByText(`the payer needs the code that goes to ${email}`).waitFor()
    const link = await card(shop.page).getByRole('link', { name: 'See the page' }).getAttribute('href')

    const { context, page, complaints, strangers } = await openVisit(browser, { viewport, locale })
    const field = (name: string) => page.locator(`input[name=${name}]`)
    const goOn = page.locator('button.primary')
    await page.goto(`${link}/`)
    await page.getByText(own.hint).waitFor()
    expect(await page.locator('body').textContent()).not.toContain(email)
    const payee = Wallet.createRandom().address
    await field('payee_address').fill(payee)
    await field('tx_hash').fill(String(paid?.tx_hash))
    await field('amount').fill(String(paid?.amount).replace('.', locale === 'pt-BR' ? ',' : '.'))
    // Nothing is sent without a code.
    await goOn.click()
    await page.getByRole('alert').getByText(own.wrong).waitFor()
    await page.getByRole('button', { name: own.send }).click()
    await page.getByText(own.sent).waitFor()
    const again = page.getByRole('button', { name: own.another })
    await again.waitFor()
    expect(await again.isDisabled()).toBe(true)
    expect(await seriousFaults(page)).toEqual([])
    const code = await codeTo(email)

    await field('code').fill(String((Number(code) + 1) % 1_000_000).padStart(6, '0'))
    await goOn.click()
    await page.getByText(payee.slice(-4)).waitFor()
    await goOn.click()
    await page.getByRole('alert').getByText(own.wrong).waitFor()
    await field('code').fill(`${code.slice(0, 3)} ${code.slice(3)}`)
    await goOn.click()
    await page.getByText(payee.slice(-4)).waitFor()
    await goOn.click()
    await page.locator('main[data-status=claimed]').waitFor()

    await card(shop.page).getByText('named through the link').waitFor()
    // The browser notes the wrong code as a failed request.
    expect({ strangers, complaints: complaints.filter(text => !text.includes('400')) }).toEqual({ strangers: [], complaints: [] })
    await shop.context.close()
    await context.close()
  },
)
