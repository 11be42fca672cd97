import { gzipSync } from 'node:zlib'
import type { CheckoutBody, OrderBody, SubscriptionBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import type { Page } from 'playwright-core'
import { askGateway, call, merchant, pay, system, units, world } from '../../world'
import { injectWallet, openVisit, PHONE, seriousFaults } from './browser'
import { heading, visit } from './every-page'
import * as state from './order-states'
import { browser, runPages } from './run-pages'

const PAYER_ACCOUNT = 5
const FIRST_LOAD_BYTES_MAX = 110_000
/** As the build leaves it beside each part, for the gateway to send. */
const PACKED = { level: 9 }

runPages({ world: { confirmations: 2 } })

const newOrder = (body: object = {}) =>
  call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00', ...body })
const urlOf = (order: OrderBody) => `${system.gatewayUrl}/pay/${order.id}`
const paidTitle = (page: Page) => page.getByRole('heading', { name: 'Paid', exact: true })

async function visitWithWallet(account: number | string = PAYER_ACCOUNT) {
  const visit = await openVisit(browser)
  return { ...visit, wallet: await injectWallet(visit.context, world.chain, account) }
}
const fund = (amount: bigint, account: number | string = PAYER_ACCOUNT) =>
  mined(world.chain.mintUsdc(world.chain.wallet(account).address, amount))

test('a wallet on another network pays with one signature and one transaction, and the page turns paid by itself', async () => {
  const order = await newOrder({ description: 'Pão de queijo' })
  const { context, page, wallet, complaints, strangers } = await visitWithWallet()
  const loaded: Promise<number>[] = []
  page.on('response', response => {
    if (/\/(assets|pay)\//.test(response.url())) loaded.push(response.body().then(body => gzipSync(body, PACKED).length))
  })
  await page.goto(urlOf(order))
  const button = page.getByRole('button', { name: /^Pay with/ })
  await button.waitFor()
  const firstLoad = (await Promise.all(loaded)).reduce((sum, size) => sum + size, 0)
  expect(firstLoad).toBeGreaterThan(10_000)
  expect(firstLoad).toBeLessThan(FIRST_LOAD_BYTES_MAX)
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Padaria Estrela')

  await button.click()
  await page.getByText('There is not enough USDC in this account').waitFor()
  await fund(units(order.usdc_amount))
  wallet.refuse('eth_signTypedData_v4')
  await button.click()
  await page.getByText('You refused in your wallet').waitFor()
  wallet.asked.length = 0
  await button.click()
  await paidTitle(page).waitFor()

  expect(wallet.asked.filter(method => /^eth_(sendTransaction|sign)/.test(method))).toEqual(['eth_signTypedData_v4', 'eth_sendTransaction'])
  const paid = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
  expect(paid).toMatchObject({ status: 'paid', exception: null, received: order.expected })
  expect(await page.title()).toContain('Paid')
  await page.goBack()
  await page.goto(urlOf(order))
  await paidTitle(page).waitFor()
  expect(await button.count()).toBe(0)
  expect({ complaints, strangers, faults: await seriousFaults(page) }).toEqual({ complaints: [], strangers: [], faults: [] })
  await context.close()
})

test('between sending and being seen, a reload and a second tab show the payment sent, and offer no second one', async () => {
  const order = await newOrder()
  await fund(units(order.usdc_amount))
  const { context, page, complaints } = await visitWithWallet()
  await page.goto(urlOf(order))
  await page.getByRole('button', { name: /^Pay with/ }).waitFor()
  await world.chain.provider.send('evm_setIntervalMining', [0])
  await world.chain.provider.send('evm_setAutomine', [false])
  try {
    await page.getByRole('button', { name: /^Pay with/ }).click()
    const sent = page.getByRole('heading', { name: 'Payment sent' })
    await sent.waitFor()
    await page.reload()
    await sent.waitFor()
    const second = await context.newPage()
    await second.goto(urlOf(order))
    await second.getByRole('heading', { name: 'Payment sent' }).waitFor()
    for (const tab of [page, second]) expect(await tab.getByRole('button', { name: /^Pay/ }).count()).toBe(0)
    await world.chain.mine()
    await page.getByRole('heading', { name: 'Payment seen on the network' }).waitFor()
    await page.getByText('1 of 2 confirmations').waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await world.chain.mine()
    await Promise.all([paidTitle(page).waitFor(), paidTitle(second).waitFor()])
  } finally {
    await world.chain.provider.send('evm_setIntervalMining', [1])
  }
  expect(complaints).toEqual([])
  await context.close()
})

test('two tabs cannot pay at the same time, and an account without USDC is shown what it has', async () => {
  const order = await newOrder()
  const { context, page, wallet } = await visitWithWallet(6)
  const second = await context.newPage()
  const release = wallet.hold('eth_requestAccounts')
  await page.goto(urlOf(order))
  await page.getByRole('button', { name: /^Pay with/ }).click()
  await page.getByText('Open your wallet and allow the connection').waitFor()
  await second.goto(urlOf(order))
  await second.getByRole('button', { name: /^Pay with/ }).click()
  await second.getByText('already under way in another tab').waitFor()
  release()
  await page.getByText('The account holds 0.00').waitFor()
  await context.close()
})

test('without a wallet a plain transfer to the shown address pays; what is missing is asked for', async () => {
  const order = await newOrder()
  const { context, page, complaints } = await openVisit(browser, { language: 'pt-BR', viewport: PHONE, colorScheme: 'dark' })
  await page.goto(urlOf(order))
  await page.getByRole('img', { name: 'Código QR do pagamento' }).waitFor()
  const address = order.payment.deposit_address ?? ''
  await page.getByText(address, { exact: true }).waitFor()
  await page.getByText('Outra moeda ou outra rede não quita esta cobrança').waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('pt-BR')
  expect(await seriousFaults(page)).toEqual([])
  const payer = world.chain.wallet(PAYER_ACCOUNT)
  const half = units(order.usdc_amount) / 2n
  await fund(units(order.usdc_amount))
  await mined(world.chain.transferUsdc(payer, address, half))
  await page.getByRole('heading', { name: 'Falta uma parte' }).waitFor()
  expect(await seriousFaults(page)).toEqual([])
  const checkout = await (await askGateway(system.gatewayUrl, `/api/v1/checkout/${order.id}`)).json()
  await mined(world.chain.transferUsdc(payer, address, units((checkout as { due: string }).due)))
  await page.getByRole('heading', { name: 'Pago', exact: true }).waitFor()
  // A receipt on paper is dark on light, and its reference is whole: paper has no button that copies it.
  await page.emulateMedia({ media: 'print' })
  expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(24, 33, 29)')
  await page.locator('.receipt').getByText(order.id, { exact: true }).waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('a page that lost its connection catches up; cancelled, expired and unknown orders explain what to do', async () => {
  const order = await newOrder()
  const { context, page } = await openVisit(browser)
  await page.goto(urlOf(order))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await pay(world.chain, order)
  await paidTitle(page).waitFor()

  const cancelled = await newOrder()
  await call(system.gatewayUrl, 'POST', `/api/v1/orders/${cancelled.id}/cancel`, merchant.api_key, {})
  await page.goto(urlOf(cancelled))
  await page.getByRole('heading', { name: 'Invoice cancelled' }).waitFor()
  await page.goto(`${system.gatewayUrl}/pay/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90`)
  await page.getByRole('heading', { name: 'Invoice not found' }).waitFor()
  expect(await seriousFaults(page)).toEqual([])

  const late = await newOrder({ expires_in: 10 })
  await page.goto(urlOf(late))
  await context.setOffline(true)
  await until(async () => {
    const { status } = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${late.id}`, merchant.api_key)
    return status === 'expired'
  }, 'the order does not expire')
  await context.setOffline(false)
  await page.getByRole('heading', { name: 'The time is up' }).waitFor()
  await context.close()
})

test('the way back to the shop names where it leads, is offered once the order is paid, and follows nothing in the address of the page', async () => {
  const refused = ['javascript:alert(1)', 'http://shop.example/', 'https://shop.example@evil.example/']
  for (const success_url of refused) await expect(newOrder({ success_url })).rejects.toThrow('invalid_request')
  const urls = { success_url: 'https://shop.example/thanks?order=7', cancel_url: 'https://shop.example/cart' }
  const order = await newOrder(urls)
  expect(order).toMatchObject(urls)
  expect(await newOrder()).not.toHaveProperty('success_url')
  const { context, page, complaints, strangers } = await openVisit(browser)
  await page.goto(`${urlOf(order)}?success_url=https://evil.example/&cancel_url=https://evil.example/`)
  const cancel = page.getByRole('link', { name: 'Back to the shop without paying' })
  await cancel.waitFor()
  await page.getByText('Leads to shop.example', { exact: true }).waitFor()
  expect(await cancel.getAttribute('href')).toBe(urls.cancel_url)
  expect(await page.getByRole('link', { name: 'Back to the shop', exact: true }).count()).toBe(0)
  await pay(world.chain, order)
  await paidTitle(page).waitFor()
  const back = page.getByRole('link', { name: 'Back to the shop', exact: true })
  expect(await back.getAttribute('href')).toBe(urls.success_url)
  expect(await back.getAttribute('rel')).toBe('noreferrer')
  await page.getByText('Leads to shop.example', { exact: true }).waitFor()
  expect(await cancel.count()).toBe(0)
  expect(await page.locator('a[href*=evil]').count()).toBe(0)
  // A payer who was too late is not led back as one who has not paid.
  const late = await newOrder(urls)
  const path = `/pay/${late.id}`
  await visit(page, system.gatewayUrl, { name: '', path, override: state.paidLate, ready: heading })
  await back.waitFor()
  expect([await back.getAttribute('href'), await cancel.count()]).toEqual([urls.cancel_url, 0])
  // The page itself goes nowhere.
  expect({ complaints, strangers, faults: await seriousFaults(page) }).toEqual({ complaints: [], strangers: [], faults: [] })
  await context.close()
})

test('the link of a subscription shows what is due, leads to its invoice, and keeps the receipt', async () => {
  const plan = { brl_amount: '49.90', interval: 'month', description: 'Clube do pão' }
  const { payer_url } = await call<SubscriptionBody>(system.gatewayUrl, 'POST', '/api/v1/subscriptions', merchant.api_key, plan)
  await system.idle()
  const { context, page, complaints, strangers } = await openVisit(browser, { viewport: PHONE, colorScheme: 'dark' })
  await page.goto(payer_url ?? '')
  await page.getByRole('heading', { level: 1, name: 'Padaria Estrela' }).waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await page.getByRole('link', { name: 'Pay now' }).click()
  await page.getByText('By transfer').first().waitFor()
  await page.getByText('Charge of your subscription').waitFor()
  const order = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${page.url().split('/').at(-1)}`, merchant.api_key)
  await pay(world.chain, order)
  await paidTitle(page).waitFor()
  await system.idle()
  await page.goto(payer_url ?? '')
  await page.getByRole('heading', { name: 'Nothing to pay now' }).waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Português' }).click()
  await page.getByRole('heading', { name: 'Nada a pagar agora' }).waitFor()
  await page.getByRole('link', { name: 'Recibo' }).click()
  await page.getByRole('heading', { name: 'Recibo' }).waitFor()
  await page.goto(`${system.gatewayUrl}/pay/subscription/${order.subscription_id}`)
  await page.getByRole('heading', { name: 'Assinatura não encontrada' }).waitFor()
  expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] })
  await context.close()
})

test('a subscription whose service does not answer shows that and no other reason, and what is shown may be old', async () => {
  const plan = { brl_amount: '49.90', interval: 'month' }
  const { payer_url } = await call<SubscriptionBody>(system.gatewayUrl, 'POST', '/api/v1/subscriptions', merchant.api_key, plan)
  await system.idle()
  const { context, page, complaints } = await openVisit(browser)
  await visit(page, system.gatewayUrl, { name: '', path: new URL(payer_url ?? '').pathname, override: state.unpaid, ready: heading })
  const payNow = page.getByRole('button', { name: 'Pay now' })
  await page.route('**/order', route => route.abort(), { times: 1 })
  await payNow.click()
  await page.getByText('The service did not answer; nothing was taken').waitFor()
  const problem = { type: '/docs/errors#not_due', title: 'Not due', status: 409, code: 'not_due', detail: 'Not due.', request_id: 'none' }
  await page.route('**/order', route => route.fulfill({ status: 409, json: problem }), { times: 1 })
  await payNow.click()
  await page.getByText('The period ends too soon').waitFor()

  const look = () => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  await page.route('**/payer/subscriptions/*', route => route.abort())
  await look()
  await page.getByText('No connection').waitFor()
  await page.unrouteAll()
  await look()
  await page.getByText('No connection').waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
  await context.close()
})

test('an account without the network’s coin pays with a signature alone', async () => {
  const order = await newOrder()
  await fund(units(order.usdc_amount), 8)
  const { address } = world.chain.wallet(8)
  await world.chain.provider.send('anvil_setBalance', [address, '0x0'])
  const { context, page, wallet, complaints } = await visitWithWallet(8)
  await page.goto(urlOf(order))
  const sign = page.getByRole('button', { name: 'Sign and pay without a fee' })
  await page.getByRole('button', { name: /^Pay with/ }).waitFor()
  expect(await sign.count()).toBe(0)
  await page.getByRole('button', { name: /^Pay with/ }).click()
  await page.getByText('This account holds none of the network’s coin').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  // The button that works is the primary one.
  expect(await sign.getAttribute('class')).toBe('primary')
  expect(await page.getByRole('button', { name: /^Pay with/ }).getAttribute('class')).toBe('secondary')
  await sign.click()
  await paidTitle(page).waitFor()
  expect(wallet.asked).not.toContain('eth_sendTransaction')
  expect(await world.chain.provider.getBalance(address)).toBe(0n)
  expect(complaints).toEqual([])
  await context.close()
})

test('a signature whose answer was lost is kept, handed in again, and asked for once', async () => {
  const order = await newOrder()
  const { privateKey } = Wallet.createRandom()
  await fund(units(order.usdc_amount), privateKey)
  const { context, page, wallet, complaints } = await visitWithWallet(privateKey)
  await page.goto(urlOf(order))
  await page.getByRole('button', { name: /^Pay with/ }).click()
  await page.route('**/authorization', route => route.abort(), { times: 1 })
  await page.getByRole('button', { name: 'Sign and pay without a fee' }).click()
  await page.getByRole('heading', { name: 'Signature received' }).waitFor()
  await page.reload()
  await paidTitle(page).waitFor()
  expect(wallet.asked.filter(method => method === 'eth_signTypedData_v4')).toHaveLength(1)
  expect(await page.evaluate<number>('localStorage.length')).toBe(0)
  expect(complaints).toEqual([])
  await context.close()
})

test('a link with a slash behind it opens, and a page of which a part was lost begins anew by itself', async () => {
  const order = await newOrder()
  const { context, page } = await openVisit(browser)
  let lost = 0
  await page.route('**/assets/en-*.js', route => {
    lost += 1
    return lost === 1 ? route.abort() : route.continue()
  })
  await page.goto(`${urlOf(order)}/`)
  await page.getByText('Loading again').waitFor()
  await heading(page)
  expect(lost).toBeGreaterThan(1)
  await context.close()
})

test('the receipt of a paid order is a document of A4 under a link that stays, whole in both languages, on a desk, a phone and paper', async () => {
  const order = await newOrder({ external_ref: 'PEDIDO-1042', description: 'Pão de queijo' })
  const { context, page, complaints, strangers } = await openVisit(browser)
  const receiptUrl = `${system.gatewayUrl}/pay/receipt/${order.id}`
  await page.goto(receiptUrl)
  await page.getByRole('heading', { name: 'There is no receipt yet' }).waitFor()
  await pay(world.chain, order)
  await page.getByRole('heading', { name: 'Padaria Estrela' }).waitFor()
  await mined(world.chain.mintUsdc(world.chain.wallet(PAYER_ACCOUNT).address, 1n))
  const read = () => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
  await until(async () => (await read()).status === 'paid', 'it is not paid')
  await page.goto(urlOf(order))
  await page.getByRole('link', { name: 'Print the receipt' }).click()
  await page.waitForURL(receiptUrl)
  const [paid] = (await read()).payments ?? []
  const exact = [
    order.id,
    order.memo,
    order.payment.token_address,
    order.payment.merchant_address,
    paid?.tx_hash,
    paid?.payer_address,
    receiptUrl,
  ]
  for (const text of [
    'PEDIDO-1042',
    'Pão de queijo',
    'R$ 150.00',
    '27.675277 USDC',
    '0.276752 USDC',
    '27.398525 USDC',
    '1 USDC = R$ 5.42',
    ...exact,
  ])
    await page.getByText(String(text), { exact: false }).first().waitFor()
  expect({ complaints, strangers, faults: await seriousFaults(page) }).toEqual({ complaints: [], strangers: [], faults: [] })
  const paper = (await page.pdf({ format: 'A4', preferCSSPageSize: true })).toString('latin1')
  expect(paper.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
  await context.close()

  const phone = await openVisit(browser, { language: 'pt-BR', viewport: PHONE })
  await phone.page.goto(receiptUrl)
  await phone.page.getByText('Recibo de pagamento').waitFor()
  await phone.page.getByText('Não é documento fiscal').waitFor()
  expect(await phone.page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width)
  expect({ complaints: phone.complaints, faults: await seriousFaults(phone.page) }).toEqual({ complaints: [], faults: [] })
  await phone.context.close()
})

test.each([
  ['en-US', 'Invoice', 'No receipt yet', /receipt of payment|this receipt/i],
  ['pt-BR', 'Cobrança', 'Ainda não é um recibo', /recibo de pagamento|este recibo/i],
] as const)('a payment of which nothing counts yet has no receipt, in %s', async (language, name, sentence, receipt) => {
  const order = await newOrder()
  await pay(world.chain, order)
  const read = () => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
  await until(async () => (await read()).status === 'paid', 'it is not paid')
  const { context, page, complaints } = await openVisit(browser, { language, viewport: PHONE })
  const override = ({ payments }: CheckoutBody) => ({
    status: 'confirming' as const,
    received: '0.000000',
    paid_at: null,
    payments: payments.map(payment => ({ ...payment, status: 'detected' as const })),
  })
  await visit(page, system.gatewayUrl, { name: '', path: `/pay/receipt/${order.id}`, override, ready: heading })
  await page.getByText(sentence).waitFor()
  expect(await page.locator('.kicker').textContent()).toBe(name)
  expect(await page.title()).toBe(`${name} · Padaria Estrela`)
  expect(await page.getByText(receipt).count()).toBe(0)
  expect({ complaints, faults: await seriousFaults(page) }).toEqual({ complaints: [], faults: [] })
  await context.close()
})
