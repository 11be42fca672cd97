import type { CheckoutBody, OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import type { Page } from 'playwright-core'
import { call, merchant, PAYER, pay, system, units, world } from '../../world'
import { injectWallet, openVisit, PHONE, seriousFaults } from './browser'
import { heading, logIn, visit } from './every-page'
import * as state from './order-states'
import { browser, runPages } from './run-pages'

// Mistakes of wallets and payers, on a network that has a public name.

const BASE_SEPOLIA = 84_532
const PAYER_ACCOUNT = 5
const NONCES = '0x7ecebe00'

runPages({ world: { chain: { blockTimeS: 1, mixedMining: true, chainId: BASE_SEPOLIA } } })

const payButton = (page: Page) => page.getByRole('button', { name: /^Pay with/ })
const signButton = (page: Page) => page.getByRole('button', { name: 'Sign and pay without a fee' })
const title = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor()
const newOrder = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
const urlOf = (order: OrderBody) => `${system.gatewayUrl}/pay/${order.id}`

/** A payer who holds what an order asks for, before its page. */
async function payerBefore(order: OrderBody, account: number | string = PAYER_ACCOUNT) {
  await mined(world.chain.mintUsdc(world.chain.wallet(account).address, units(order.usdc_amount)))
  const visit = await openVisit(browser)
  const wallet = await injectWallet(visit.context, world.chain, account)
  await visit.page.goto(urlOf(order))
  return { ...visit, wallet }
}

test('a wallet on another network is named as such; one that does not know the network is offered it; going back after paying shows the receipt', async () => {
  const order = await newOrder()
  const { context, page, wallet, complaints, strangers } = await payerBefore(order)
  expect(await page.getByRole('timer').textContent()).toMatch(/^\d\d:\d\d$/)
  wallet.network.goes = false
  await payButton(page).click()
  await page.getByText('Your wallet is still on another network').waitFor()
  wallet.network.known = false
  wallet.refuse('wallet_addEthereumChain')
  await payButton(page).click()
  await page.getByText('You refused in your wallet').waitFor()
  expect(await signButton(page).count()).toBe(0)
  wallet.network.goes = true
  await payButton(page).click()
  await title(page, 'Paid')
  expect(wallet.asked).toContain('wallet_addEthereumChain')
  const link = page.getByRole('link', { name: 'See on the network' })
  expect(await link.getAttribute('href')).toMatch(/^https:\/\/sepolia\.basescan\.org\/tx\/0x[0-9a-f]{64}$/)
  await page.goto(`${system.gatewayUrl}/ping`)
  await page.goBack()
  await title(page, 'Paid')
  expect(await payButton(page).count()).toBe(0)
  expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] })
  await context.close()
})

test.each([
  ['a wallet that signs no typed data', 'eth_signTypedData_v4'],
  ['a token without permit', NONCES],
])('%s: an approval of this amount and a payment', async (_, lacking) => {
  const order = await newOrder()
  const { context, page, wallet, complaints } = await payerBefore(order)
  wallet.lacks.add(lacking)
  wallet.refuse('eth_sendTransaction')
  await payButton(page).click()
  await page.getByText('You refused in your wallet').waitFor()
  wallet.asked.length = 0
  const release = wallet.hold('eth_sendTransaction')
  await payButton(page).click()
  await page.getByText('Approve this amount in your wallet').waitFor()
  release()
  await title(page, 'Paid')
  expect(wallet.asked.filter(method => method === 'eth_sendTransaction')).toHaveLength(2)
  expect(await world.chain.provider.call(allowanceOf(order))).toBe(`0x${'0'.repeat(64)}`)
  expect(complaints).toEqual([])
  await context.close()
})

const allowanceOf = ({ payment }: OrderBody) => {
  const [owner, spender] = [world.chain.wallet(PAYER_ACCOUNT).address, payment.router_address]
  return { to: payment.token_address, data: `0xdd62ed3e${[owner, spender].map(a => a.slice(2).padStart(64, '0')).join('')}` }
}

/** An account of its own, with the network's coin. */
async function newAccount(): Promise<string> {
  const { address, privateKey } = Wallet.createRandom()
  await world.chain.provider.send('anvil_setBalance', [address, '0xde0b6b3a7640000'])
  return privateKey
}

test('an approval that takes longer than ten minutes is not called refused, and is not asked for again once it is there', async () => {
  const order = await newOrder()
  const { context, page, wallet, complaints } = await payerBefore(order, await newAccount())
  wallet.lacks.add('eth_signTypedData_v4')
  await page.clock.install()
  await page.reload()
  const chain = world.chain.provider
  await chain.send('evm_setIntervalMining', [0])
  await chain.send('evm_setAutomine', [false])
  try {
    await payButton(page).click()
    await until(() => wallet.asked.includes('eth_getTransactionReceipt'), 'the approval is not waited for')
    await page.clock.fastForward('11:00')
    await page.getByText('The network has not confirmed your approval yet').waitFor()
    await page.getByText('Nothing was paid').waitFor()
  } finally {
    await chain.send('evm_setAutomine', [true])
    await chain.send('evm_setIntervalMining', [1])
  }
  await world.chain.mine()
  await payButton(page).click()
  await title(page, 'Paid')
  expect(wallet.asked.filter(method => method === 'eth_sendTransaction')).toHaveLength(2)
  expect(complaints).toEqual([])
  await context.close()
})

test('what this browser sent is waited for while another payment arrives, and is not asked for again', async () => {
  const order = await newOrder()
  const { context, page, complaints } = await openVisit(browser)
  await context.addInitScript(ANNOUNCE_WALLET)
  await page.goto(urlOf(order))
  await payButton(page).waitFor()
  const sent = { hash: `0x${'5e'.repeat(32)}`, authorization: null, payer: PAYER.address, at: Date.now(), receivedBefore: '0.000000' }
  await page.evaluate(`localStorage.setItem('ponte.sent.${order.id}', '${JSON.stringify(sent)}')`)
  await page.reload()
  await title(page, 'Payment sent')
  await payPart(order)
  await page.locator('main[data-status=underpaid]').waitFor()
  await title(page, 'Payment sent')
  expect(await payButton(page).count()).toBe(0)
  expect(await page.evaluate(`localStorage.getItem('ponte.sent.${order.id}')`)).toBe(JSON.stringify(sent))
  expect(complaints).toEqual([])
  await context.close()
})

const cancel = ({ id }: OrderBody) => call(system.gatewayUrl, 'POST', `/api/v1/orders/${id}/cancel`, merchant.api_key, {})
const payPart = (order: OrderBody) => pay(world.chain, order, 1_000_000n)
const passTime = (_: OrderBody, page: Page) =>
  page.route('**/api/v1/checkout/*', async route => {
    const answer = await route.fetch()
    await route.fulfill({ json: { ...(await answer.json()), expires_at: new Date(0).toISOString() } })
  })
const isNoLongerPaying = (page: Page) =>
  until(
    async () => (await page.evaluate<number>('navigator.locks.query().then(({ held }) => held.length)')) === 0,
    'the page still waits for the wallet',
  )

describe.each([
  ['cancelled', cancel],
  ['paid in part by another payer', payPart],
  ['out of time', passTime],
])('an order that is %s while the wallet asks', (_, change) => {
  test.each([
    ['an approval', 'eth_sendTransaction', 'Approve this amount in your wallet'],
    ['a permit', 'eth_signTypedData_v4', 'Sign in your wallet (1 of 2)'],
    ['the connection', 'eth_requestAccounts', 'Open your wallet and allow'],
  ])('for %s is asked no further confirmation', async (__, held, step) => {
    const order = await newOrder()
    // An approval leaves an allowance.
    const { context, page, wallet, complaints } = await payerBefore(order, await newAccount())
    if (held === 'eth_sendTransaction') wallet.lacks.add('eth_signTypedData_v4')
    const release = wallet.hold(held)
    await payButton(page).click()
    await page.getByText(step).waitFor()
    wallet.asked.length = 0
    await change(order, page)
    if (change === payPart) await title(page, 'A part is missing')
    release()
    await isNoLongerPaying(page)
    if (change === payPart) await page.getByText('The invoice changed while your wallet was open').waitFor()
    expect(wallet.asked.filter(method => /^eth_s(endTransaction|ign)/.test(method))).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
  })
})

test('a transaction that the network refuses is noticed, shown, and may be sent again', async () => {
  const order = await newOrder()
  const { context, page, wallet, complaints } = await payerBefore(order)
  wallet.gasLimit = 60_000
  await payButton(page).click()
  await title(page, 'The transaction failed')
  await page.getByText('The amount did not leave your account').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  wallet.gasLimit = null
  await payButton(page).click()
  await title(page, 'Paid')
  expect(complaints).toEqual([])
  await context.close()
})

test('a reload while the wallet asks loses nothing: the payer is asked again and pays once', async () => {
  const order = await newOrder()
  const { context, page, wallet } = await payerBefore(order)
  const release = wallet.hold('eth_signTypedData_v4')
  await payButton(page).click()
  await page.getByText('Sign in your wallet (1 of 2)').waitFor()
  await page.reload()
  release()
  await payButton(page).click()
  await title(page, 'Paid')
  const checkout = await (await fetch(`${system.gatewayUrl}/api/v1/checkout/${order.id}`)).json()
  expect(checkout).toMatchObject({ status: 'paid', exception: null })
  await context.close()
})

test('money that came twice, in excess or too late is shown to the payer, with what to do', async () => {
  const { context, page, complaints } = await openVisit(browser)
  const twice = await newOrder()
  await page.goto(urlOf(twice))
  await pay(world.chain, twice)
  await title(page, 'Paid')
  await pay(world.chain, twice)
  await page.getByText('This invoice was paid more than once').waitFor()

  const over = await newOrder()
  await pay(world.chain, over, units(over.usdc_amount) * 2n)
  await page.goto(urlOf(over))
  await page.getByText('More arrived than was owed').waitFor()

  const cancelled = await newOrder()
  await page.goto(urlOf(cancelled))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await call(system.gatewayUrl, 'POST', `/api/v1/orders/${cancelled.id}/cancel`, merchant.api_key, {})
  await title(page, 'Invoice cancelled')
  await pay(world.chain, cancelled)
  await page.getByText('Your payment arrived after the cancellation').waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('what has to be carried elsewhere is copied exactly, and the QR code holds the request or the bare address', async () => {
  const order = await newOrder()
  const { context, page } = await openVisit(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(urlOf(order))
  const code = page.getByRole('img', { name: 'QR code of the payment' }).locator('path')
  const request = await code.getAttribute('d')
  await page.getByRole('button', { name: 'Address only' }).click()
  await until(async () => (await code.getAttribute('d')) !== request, 'the QR code does not change')
  const carried = {
    // 150.00 at 5.42 is 27.675277; exchanges take cents.
    'Copy the amount': '27.68',
    'Copy the address': order.payment.deposit_address,
    'Copy: USDC contract (Base Sepolia)': order.payment.token_address,
  }
  for (const [name, value] of Object.entries(carried)) {
    await page.getByRole('button', { name, exact: true }).click()
    await until(async () => (await page.evaluate('navigator.clipboard.readText()')) === value, `${name} does not copy it`)
  }
  await context.close()
})

test('a wallet that only announces itself is offered first', async () => {
  const order = await newOrder()
  const { context, page, complaints } = await openVisit(browser)
  await context.addInitScript(ANNOUNCE_WALLET)
  await page.goto(urlOf(order))
  await page.getByRole('button', { name: 'Pay with Rabby' }).waitFor()
  expect(await page.getByRole('tab', { name: 'With a wallet' }).getAttribute('aria-selected')).toBe('true')
  expect(complaints).toEqual([])
  await context.close()
})

// Runs in the page: EIP-6963 without `window.ethereum`.
const ANNOUNCE_WALLET = `
  const info = { rdns: 'io.rabby', uuid: '1', name: 'Rabby', icon: '' }
  const detail = { info, provider: { request: () => Promise.resolve(null) } }
  addEventListener('eip6963:requestProvider', () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail })))`

test('a checkout whose browser is offline shows it, and nothing of it once it is back', async () => {
  const order = await newOrder()
  const { context, page } = await openVisit(browser)
  await page.goto(urlOf(order))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await context.setOffline(true)
  await page.getByText('No connection').waitFor()
  await context.setOffline(false)
  await page.getByText('No connection').waitFor({ state: 'detached' })
  await context.close()
})

test('by transfer, the amount stands before the address, the warning and the QR code: above the fold on a desk, in two screens of a phone', async () => {
  const order = await newOrder()
  for (const view of [{ viewport: { width: 1440, height: 900 } }, { viewport: PHONE, hasTouch: true }]) {
    const { context, page, complaints } = await openVisit(browser, view)
    await page.goto(urlOf(order))
    const code = page.getByRole('img', { name: 'QR code of the payment' })
    // A phone cannot scan its own screen.
    if (view.hasTouch) await page.getByText('Or scan it with your wallet').click()
    await code.waitFor()
    const places = [
      page.getByRole('button', { name: 'Copy the amount' }),
      page.getByRole('button', { name: 'Copy the address' }),
      page.getByText('Only USDC, and only on'),
      code,
    ].map(async place => (await place.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 })
    const [amount, address, warning, shown] = await Promise.all(places)
    if (!amount || !address || !warning || !shown) throw new Error('A part of the page has no place.')
    expect(amount.y).toBeLessThan(address.y)
    expect(address.y).toBeLessThan(warning.y)
    if (view.hasTouch) expect(warning.y).toBeLessThan(shown.y)
    else expect(shown.x).toBeGreaterThan(amount.x + amount.width)
    const screens = view.hasTouch ? 2 : 1
    expect(Math.max(warning.y + warning.height, shown.y + shown.height)).toBeLessThan(screens * view.viewport.height)
    expect(await seriousFaults(page)).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
  }
})

test.each([
  [
    'on a desk, in English',
    { language: 'en-US' },
    { fold: 'I pay from an exchange', fee: /^Fee of the exchange/, copy: 'Copy the amount to type in' },
    '1.50',
    '29.18',
  ],
  [
    'on a phone, in Portuguese',
    { language: 'pt-BR', viewport: PHONE, hasTouch: true },
    { fold: 'Vou pagar por uma corretora', fee: /^Taxa da corretora/, copy: 'Copiar o valor a digitar' },
    '1,50',
    '29,18',
  ],
] as const)(
  'from an exchange, %s: what it takes as a fee is on top, and what then arrives pays exactly',
  async (_, view, words, fee, typed) => {
    const order = await newOrder()
    const { context, page, complaints } = await openVisit(browser, view)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(urlOf(order))
    await page.getByText(words.fold).click()
    const field = page.getByLabel(words.fee)
    await field.fill('x')
    await page.locator('.folded [aria-invalid=true]').waitFor()
    await field.fill(fee)
    await page.getByRole('button', { name: words.copy }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(typed)
    expect(await seriousFaults(page)).toEqual([])
    const payer = world.chain.wallet(PAYER_ACCOUNT)
    const arrives = units(`${typed.replace(',', '.')}0000`) - 1_500_000n
    await mined(world.chain.mintUsdc(payer.address, arrives))
    await mined(world.chain.transferUsdc(payer, order.payment.deposit_address ?? '', arrives))
    await page.locator('.receipt').waitFor()
    const paid = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
    expect([paid.status, paid.exception]).toEqual(['paid', null])
    expect(complaints).toEqual([])
    await context.close()
  },
)

test('a phone without a wallet in its browser is led to its wallets, and is shown no code to scan of the page it is on', async () => {
  const order = await newOrder()
  const { context, page } = await openVisit(browser, { viewport: PHONE, hasTouch: true })
  await page.goto(urlOf(order))
  expect(await page.getByRole('link', { name: 'Open in this phone’s wallet' }).getAttribute('href')).toBe(order.payment.payment_uri)
  await page.getByRole('tab', { name: 'With a wallet' }).click()
  const link = page.getByRole('link', { name: 'Open in MetaMask' })
  expect(await link.getAttribute('href')).toBe(`https://metamask.app.link/dapp/${urlOf(order).replace('http://', '')}`)
  expect(await page.getByRole('img').count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  await context.close()
})

test('the rounded amount that a transfer copies pays the order without a surplus, and both sides read what was sent', async () => {
  const order = await newOrder()
  const { context, page, complaints } = await openVisit(browser)
  await page.goto(urlOf(order))
  await page.locator('.copy-amount').getByText('27.68 USDC').waitFor()
  const payer = world.chain.wallet(PAYER_ACCOUNT)
  const send = async (amount: bigint) => {
    await mined(world.chain.mintUsdc(payer.address, amount))
    await mined(world.chain.transferUsdc(payer, order.payment.deposit_address ?? '', amount))
  }
  await send(20_000_000n)
  await title(page, 'A part is missing')
  await page.locator('.arrived').getByText('What arrived: 20.00 USDC').waitFor()
  await page.locator('.missing').getByText('7.68 USDC').waitFor()
  await send(7_680_000n)
  await title(page, 'Paid')
  const receipt = page.locator('.receipt')
  await receipt.getByText('27.68 USDC', { exact: true }).waitFor()
  for (const part of ['20.00 USDC', '7.68 USDC']) await receipt.locator('.payments').getByText(part, { exact: true }).waitFor()
  expect(await receipt.locator('.payments .mono').allTextContents()).toEqual([
    expect.stringMatching(/^0x[0-9a-f]{64}$/),
    expect.stringMatching(/^0x/),
  ])
  const paid = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
  expect(paid).toMatchObject({ status: 'paid', exception: null })

  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
  const sums = page.locator('.payments + .facts')
  // Gross, the platform's hundredth of it, and what is left.
  for (const amount of ['27.68 USDC', '− 0.2768 USDC', '27.4032 USDC']) await sums.getByText(amount, { exact: true }).waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('a payer whose money came too late reads how much of it came, and the merchant what is left over and from whom', async () => {
  const order = await newOrder()
  await call(system.gatewayUrl, 'POST', `/api/v1/orders/${order.id}/cancel`, merchant.api_key, {})
  await pay(world.chain, order, 12_340_000n)
  const { context, page, complaints } = await openVisit(browser)
  await page.goto(urlOf(order))
  await page.locator('.arrived').getByText('What arrived: 12.34 USDC').waitFor()
  await page.getByText('Your payment arrived after the cancellation').waitFor()
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
  await page.getByText('12.34 USDC are left over').waitFor()
  await page.getByText(`${PAYER.address.slice(0, 10)}…${PAYER.address.slice(-4)}`).waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('a network without new confirmations and a signature that is not submitted have states of their own', async () => {
  const order = await newOrder()
  const { context, page } = await openVisit(browser)
  await page.clock.install()
  const override = { status: 'confirming', confirmations: { seen: 1, required: 3 } } as const
  await visit(page, system.gatewayUrl, { name: '', path: `/pay/${order.id}`, override, ready: heading })
  await title(page, 'Payment seen on the network')
  await page.clock.fastForward('04:00')
  await title(page, 'The network stands still')

  await page.unrouteAll()
  const sent = { hash: null, authorization: null, payer: order.payment.merchant_address, at: Date.now(), receivedBefore: '0.000000' }
  await page.evaluate(`localStorage.setItem('ponte.sent.${order.id}', '${JSON.stringify(sent)}')`)
  await page.reload()
  await page.getByRole('heading', { name: /Signature received|Waiting to be sent/ }).waitFor()
  await page.clock.fastForward('02:00')
  await title(page, 'Waiting to be sent')
  expect(await page.getByRole('button', { name: /pay/i }).count()).toBe(0)

  const authorization = { ...signedFor(order), status: 'submitted' } as const
  await visit(page, system.gatewayUrl, { name: '', path: `/pay/${order.id}`, override: { authorization }, ready: heading })
  await page.clock.fastForward('02:00')
  await title(page, 'Signature received')
  expect(await page.getByText('nothing has left your account').count()).toBe(0)
  await context.close()
})

const signedFor = ({ usdc_amount, expires_at }: OrderBody) => ({
  status: 'accepted' as const,
  amount: usdc_amount,
  tx_hash: null,
  valid_before: Math.floor(Date.parse(expires_at) / 1_000),
  reason: null,
})

test.each([
  ['is refused', 409, 'invalid_state', [], 'The signed payment was not made'],
  ['was used on the network already', 400, 'invalid_request', [{ path: 'salt', message: 'was used' }], 'Signature received'],
  ['is not answered about', 503, 'service_unavailable', [], 'Signature received'],
  ['comes too often', 429, 'rate_limited', [], 'Signature received'],
] as const)('a signature that %s when it is handed in again: %i', async (_, status, code, errors, shown) => {
  const order = await newOrder()
  const { context, page, complaints } = await openVisit(browser)
  await context.addInitScript(ANNOUNCE_WALLET)
  await page.clock.install()
  await page.goto(urlOf(order))
  await heading(page)
  let asked = 0
  await page.route('**/authorization', async route => {
    await route.fulfill({ status, json: { type: '', title: '', status, code, detail: '', request_id: 'none', errors } })
    asked += 1
  })
  const authorization = {
    payer_address: PAYER.address,
    amount: order.usdc_amount,
    valid_after: 0,
    valid_before: 1,
    salt: '',
    signature: '',
  }
  const sent = { hash: null, authorization, payer: PAYER.address, at: Date.now(), receivedBefore: '0.000000' }
  await page.evaluate(`localStorage.setItem('ponte.sent.${order.id}', '${JSON.stringify(sent)}')`)
  await page.reload()
  await title(page, 'Signature received')
  for (const times of shown === 'Signature received' ? [1, 2] : [1]) {
    await page.clock.runFor(4_000)
    await until(async () => asked >= times, 'it is not handed in again')
  }
  await title(page, shown)
  expect(await payButton(page).count()).toBe(shown === 'Signature received' ? 0 : 1)
  expect(complaints).toEqual([])
  await context.close()
})

test('a signature handed in elsewhere is on its way: no one is asked to pay again, and when it fails the page gives the reason why and what is due', async () => {
  const order = await newOrder()
  const { context, page, complaints } = await openVisit(browser)
  await context.addInitScript(ANNOUNCE_WALLET)
  const valid_before = Math.floor(Date.parse(order.expires_at) / 1_000)
  const authorization = { status: 'accepted', amount: order.usdc_amount, tx_hash: null, valid_before, reason: null } as const
  const path = `/pay/${order.id}`
  await visit(page, system.gatewayUrl, { name: '', path, override: { due: '0.000000', authorization }, ready: heading })
  await title(page, 'Signature received')
  await page.getByText('it would be paid twice').waitFor()
  expect(await page.getByRole('button', { name: /pay/i }).count()).toBe(0)
  await page.unrouteAll()

  const failed = { ...authorization, status: 'failed', reason: 'reverted' } as const
  await visit(page, system.gatewayUrl, { name: '', path, override: { authorization: failed }, ready: heading })
  await title(page, 'The signed payment was not made')
  await page.getByText('The network refused it in the last moment').waitFor()
  await page.getByText('Others have seen the signature').waitFor()
  // The way that the page warns of is not its first button.
  expect([await signButton(page).getAttribute('class'), await payButton(page).getAttribute('class')]).toEqual(['primary', 'secondary'])
  expect(await seriousFaults(page)).toEqual([])
  await page.unrouteAll()

  const used = { ...authorization, status: 'failed', reason: 'nonce_used' } as const
  await visit(page, system.gatewayUrl, { name: '', path, override: { authorization: used }, ready: heading })
  await page.getByText('The signature was used or cancelled elsewhere').waitFor()
  expect([await page.getByText('Others have seen the signature').count(), await signButton(page).count()]).toEqual([0, 0])
  expect(complaints).toEqual([])
  await context.close()
})

test('a payment that the network undid is waited for: paying again is offered to who was asked to, and not at all once the time is up', async () => {
  const order = await newOrder()
  const { context, page, complaints } = await openVisit(browser)
  const path = `/pay/${order.id}`
  await visit(page, system.gatewayUrl, { name: '', path, override: state.reorged, ready: heading })
  await title(page, 'Payment undone')
  await page.getByText('undone by the network').waitFor()
  expect(await page.getByRole('tab').count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  const again = page.getByRole('button', { name: 'The merchant asked me to pay again' })
  await again.click()
  await page.getByRole('button', { name: 'Copy the address' }).waitFor()
  await page.unrouteAll()

  const override = (body: CheckoutBody) => ({ ...state.reorged(body), status: 'expired' as const })
  await visit(page, system.gatewayUrl, { name: '', path, override, ready: heading })
  await title(page, 'Payment undone')
  expect([await again.count(), await page.getByText('Nothing arrived in time').count()]).toEqual([0, 0])
  expect(complaints).toEqual([])
  await context.close()
})
