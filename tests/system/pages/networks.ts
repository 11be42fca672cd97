import { type System, startAll } from '@ponte/all-in-one'
import type { AuthorizePayment, CheckoutBody, MerchantBody, OrderBody } from '@ponte/contracts'
import { type LocalChain, mined, startLocalChain } from '@ponte/local-servers'
import { receiveWithAuthorizationTypedData } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { toBeHex, verifyTypedData, Wallet } from 'ethers'
import type { Browser, Page } from 'playwright-core'
import { call, createMerchant, MERCHANT, pay, startWorld, units, type World } from '../../world'
import { DESKTOP, type InjectedWallet, injectWallet, openBrowser, openVisit, seriousFaults, type Visit } from './browser'
import { heading, logIn, visit } from './every-page'
import * as state from './order-states'
import type { WalletCalls } from './wallet-calls'

// An order that may be paid on two networks, which have public names; and on three, of which one has another deposit address.

const BASE_SEPOLIA = 84_532
const SEPOLIA = 11_155_111
const PUBLIC_NAMES: Record<number, string> = { [BASE_SEPOLIA]: 'Base Sepolia', [SEPOLIA]: 'Sepolia' }
const PAYER_ACCOUNT = 5
const NARROW = { width: 360, height: 780 }

let world: World
let second: LocalChain
let system: System
let browser: Browser
let merchant: Awaited<ReturnType<typeof createMerchant>>
beforeAll(async () => {
  const chain = { blockTimeS: 1, mixedMining: true }
  world = await startWorld({ chain: { ...chain, chainId: BASE_SEPOLIA } })
  world.place.chain.network = 'base-sepolia'
  second = await startLocalChain({ ...chain, chainId: SEPOLIA })
  const networks = [
    {
      ...{ network: 'sepolia', chain_id: SEPOLIA, rpc_urls: [second.rpcUrl], token_address: second.usdcAddress, confirmations: 5 },
      ...{ router_address: second.routerAddress, deposit_factory: second.routerAddress },
    },
  ]
  system = await startAll(world.place, { logger: world.logger, settings: { orders: { OTHER_NETWORKS: JSON.stringify(networks) } } })
  merchant = await createMerchant(world, system.gatewayUrl)
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await system?.stop()
  await second?.stop()
  await world?.stop()
})

const newOrder = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
const urlOf = (order: OrderBody) => `${system.gatewayUrl}/pay/${order.id}`
const network = (page: Page, name: string) => page.getByRole('radio', { name: new RegExp(`^${name}\\b`) })
const payButton = (page: Page) => page.getByRole('button', { name: /^Pay with/ })
const title = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor()
const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth')

/** By the payer's hand, in the wallet. */
async function goTo(page: Page, wallet: InjectedWallet, chainId: number) {
  wallet.network.chainId = chainId
  await page.evaluate(id => Reflect.get(globalThis, 'ethereum').emit('chainChanged', id), `0x${chainId.toString(16)}`)
}

/** A payer who holds what an order asks for on both networks, before its page. */
async function payerBefore(order: OrderBody, options: Visit = {}) {
  for (const chain of [world.chain, second]) {
    const { address } = chain.wallet(PAYER_ACCOUNT)
    const more = units(order.usdc_amount) - (await chain.balanceOf(address))
    if (more > 0n) await mined(chain.mintUsdc(address, more))
  }
  const visited = await openVisit(browser, options)
  const wallet = await injectWallet(visited.context, world.chain, PAYER_ACCOUNT, [second])
  await visited.page.goto(urlOf(order))
  return { ...visited, wallet }
}

test('with a wallet the payer chooses the network, the wallet goes there, and the money is there', async () => {
  const order = await newOrder()
  expect(order.payment.networks?.map(({ chain_id }) => chain_id)).toEqual([BASE_SEPOLIA, SEPOLIA])
  const { context, page, wallet, complaints, strangers } = await payerBefore(order)
  await network(page, 'Sepolia').waitFor()
  // Nothing to pay by before a network is chosen.
  expect(await page.getByRole('tab').count()).toBe(0)
  expect(await page.getByText(order.payment.deposit_address ?? '').count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  await network(page, 'Base Sepolia').focus()
  await page.keyboard.press('ArrowDown')
  expect(await network(page, 'Sepolia').isChecked()).toBe(true)
  const before = await second.balanceOf(MERCHANT.address)
  await payButton(page).click()
  await title(page, 'Payment sent')
  expect(wallet.network.chainId).toBe(SEPOLIA)
  await until(async () => (await second.balanceOf(MERCHANT.address)) - before === units(order.expected), 'it did not come')
  expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] })
  await context.close()
})

test('a wallet that is on one of them finds it chosen; who changes the network in the middle pays on none and is asked again', async () => {
  const order = await newOrder()
  const { context, page, wallet, complaints } = await payerBefore(order)
  wallet.network.chainId = SEPOLIA
  await page.reload()
  await payButton(page).waitFor()
  expect(await network(page, 'Sepolia').isChecked()).toBe(true)
  // An approval is not needed on the other network; the signature that is asked for is of this one.
  const release = wallet.hold('eth_signTypedData_v4')
  await payButton(page).click()
  await page.getByText('Sign in your wallet (1 of 2)').waitFor()
  wallet.network.chainId = BASE_SEPOLIA
  release()
  await page.getByText('Your wallet is still on another network').waitFor()
  expect(wallet.asked).not.toContain('eth_sendTransaction')
  // It is no answer about the other network.
  await network(page, 'Base Sepolia').check()
  expect(await page.getByText('Your wallet is still on another network').count()).toBe(0)
  await payButton(page).click()
  await title(page, 'Paid')
  const line = page.locator('.payments').getByText('Base Sepolia')
  await line.waitFor()
  expect(await page.getByRole('link', { name: 'See on the network' }).getAttribute('href')).toMatch(/^https:\/\/sepolia\.basescan\.org\//)
  expect(complaints).toEqual([])
  await context.close()
})

test('the page follows a wallet that changes its network in the middle, and the payer pays there', async () => {
  const order = await newOrder()
  const { context, page, wallet, complaints } = await payerBefore(order)
  wallet.network.chainId = SEPOLIA
  await page.reload()
  await payButton(page).waitFor()
  const release = wallet.hold('eth_signTypedData_v4')
  await payButton(page).click()
  await page.getByText('Sign in your wallet (1 of 2)').waitFor()
  await goTo(page, wallet, BASE_SEPOLIA)
  await until(() => network(page, 'Base Sepolia').isChecked(), 'the page does not follow')
  release()
  await page.getByText('Sign in your wallet (1 of 2)').waitFor({ state: 'detached' })
  expect(wallet.asked).not.toContain('eth_sendTransaction')
  const before = await Promise.all([world.chain, second].map(chain => chain.balanceOf(MERCHANT.address)))
  await payButton(page).click()
  await title(page, 'Paid')
  expect(wallet.asked).not.toContain('wallet_switchEthereumChain')
  const after = await Promise.all([world.chain, second].map(chain => chain.balanceOf(MERCHANT.address)))
  expect(after.map((units, index) => units - (before[index] ?? 0n))).toEqual([units(order.expected), 0n])
  expect(complaints).toEqual([])
  await context.close()
})

test('what was chosen for an exchange stays, wherever the wallet goes, and it goes where the payer chose when they pay by it', async () => {
  const order = await newOrder()
  const { context, page, wallet } = await payerBefore(order)
  await network(page, 'Sepolia').check()
  await goTo(page, wallet, BASE_SEPOLIA)
  await goTo(page, wallet, 1)
  await until(async () => wallet.asked.filter(method => method === 'eth_chainId').length > 2, 'the wallet is not looked at again')
  expect(await network(page, 'Sepolia').isChecked()).toBe(true)
  await payButton(page).click()
  await title(page, 'Payment sent')
  expect(wallet.network.chainId).toBe(SEPOLIA)
  await context.close()
})

test('a payer without coin signs for the network that they chose', async () => {
  const { context, page, wallet, order, open, complaints } = await payerWith({ base: 0n, sepolia: ENOUGH }, SEPOLIA)
  await second.provider.send('anvil_setBalance', [second.wallet(wallet.account).address, '0x0'])
  const handedIn: AuthorizePayment[] = []
  await page.route('**/authorization', async route => {
    handedIn.push(route.request().postDataJSON())
    await route.fulfill({ status: 202, json: { status: 'accepted' } })
  })
  await open()
  await payButton(page).click()
  await page.getByRole('button', { name: 'Sign and pay without a fee' }).click()
  await until(async () => handedIn.length > 0, 'nothing is handed in')
  const [signed] = handedIn
  expect(signed).toMatchObject({ chain_id: SEPOLIA, amount: order.usdc_amount, salt: toBeHex(units(order.usdc_amount), 32) })
  const { domain, types, message } = receiveWithAuthorizationTypedData({
    ...{ chainId: SEPOLIA, usdcAddress: second.usdcAddress, router: second.routerAddress, memo: order.memo, merchant: MERCHANT.address },
    ...{ payer: signed?.payer_address ?? '', amount: units(order.usdc_amount), validBefore: BigInt(signed?.valid_before ?? 0) },
    salt: signed?.salt ?? '',
  })
  expect(verifyTypedData(domain, types, message, signed?.signature ?? '')).toBe(signed?.payer_address)
  expect(complaints).toEqual([])
  await context.close()
})

/** The networks from the top, and what stands at one of them. */
const namesOf = (page: Page) => page.locator('.networks strong').allTextContents()
const at = (page: Page, name: string) => page.locator('.networks label').filter({ has: page.getByText(name, { exact: true }) })

/** A payer with so much USDC on each network, whose wallet is on one of them. */
async function payerWith(amounts: { base: bigint; sepolia: bigint }, on: number, wish: Visit = {}) {
  const order = await newOrder()
  const { address, privateKey } = Wallet.createRandom()
  for (const [chain, amount] of [
    [world.chain, amounts.base],
    [second, amounts.sepolia],
  ] as const) {
    await chain.provider.send('anvil_setBalance', [address, '0xde0b6b3a7640000'])
    if (amount > 0n) await mined(chain.mintUsdc(address, amount))
  }
  const visited = await openVisit(browser, wish)
  const wallet = await injectWallet(visited.context, world.chain, privateKey, [second])
  wallet.network.chainId = on
  return { ...visited, wallet, order, open: () => visited.page.goto(urlOf(order)) }
}
const ENOUGH = 1_000_000_000n

test('a wallet that lists what it has: where it holds enough comes first and is chosen, wherever the wallet is', async () => {
  const { context, page, wallet, open, complaints, strangers } = await payerWith({ base: 1_500_000n, sepolia: ENOUGH }, BASE_SEPOLIA)
  wallet.listsAssets = true
  await open()
  await payButton(page).waitFor()
  expect(await namesOf(page)).toEqual(['Sepolia', 'Base Sepolia'])
  expect(await network(page, 'Sepolia').isChecked()).toBe(true)
  await at(page, 'Sepolia').getByText('your wallet has 1,000.00 USDC there').waitFor()
  await at(page, 'Base Sepolia').getByText('your wallet has only 1.50 USDC there: not enough').waitFor()
  expect(wallet.asked).not.toContain('eth_requestAccounts')
  expect(await seriousFaults(page)).toEqual([])
  // The order stays once the payer has chosen.
  await network(page, 'Base Sepolia').check()
  expect(await namesOf(page)).toEqual(['Sepolia', 'Base Sepolia'])
  await network(page, 'Sepolia').check()
  await payButton(page).click()
  await title(page, 'Payment sent')
  expect(wallet.network.chainId).toBe(SEPOLIA)
  expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] })
  await context.close()
})

test('a wallet that answers for its own network alone: enough there chooses it, too little is stated', async () => {
  const rich = await payerWith({ base: ENOUGH, sepolia: ENOUGH }, SEPOLIA)
  await rich.open()
  await payButton(rich.page).waitFor()
  expect(await namesOf(rich.page)).toEqual(['Sepolia', 'Base Sepolia'])
  expect(await at(rich.page, 'Base Sepolia').getByText('your wallet').count()).toBe(0)
  await rich.context.close()

  const poor = await payerWith({ base: 0n, sepolia: 0n }, BASE_SEPOLIA, { language: 'pt-BR', viewport: NARROW, hasTouch: true })
  await poor.open()
  await at(poor.page, 'Base Sepolia').getByText('a sua carteira só tem 0,00 USDC nela: não basta').waitFor()
  expect(await namesOf(poor.page)).toEqual(['Sepolia', 'Base Sepolia'])
  expect(await widthOf(poor.page)).toBeLessThanOrEqual(NARROW.width)
  expect(await seriousFaults(poor.page)).toEqual([])
  await poor.context.close()
})

test('a wallet that has shared no account is asked when the payer wishes, and a refusal changes nothing', async () => {
  const { context, page, wallet, open, complaints } = await payerWith({ base: ENOUGH, sepolia: 0n }, BASE_SEPOLIA)
  wallet.lacks.add('eth_accounts')
  await open()
  const look = page.getByRole('button', { name: 'See where my wallet has USDC' })
  wallet.refuse('eth_requestAccounts')
  await look.click()
  await until(async () => wallet.asked.includes('eth_requestAccounts'), 'the wallet is not asked')
  expect(await page.getByText('your wallet has').count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  await look.click()
  await at(page, 'Base Sepolia').getByText('your wallet has 1,000.00 USDC there').waitFor()
  expect(await look.count()).toBe(0)
  expect(complaints).toEqual([])
  await context.close()
})

test('a wallet that shows nothing of these networks leaves them as they are', async () => {
  const { context, page, open } = await payerWith({ base: 0n, sepolia: 0n }, 1)
  await open()
  await page.getByText('The wallet does not show what it has on these networks').waitFor()
  expect(await namesOf(page)).toEqual(['Base Sepolia', 'Sepolia'])
  expect(await page.getByRole('tab').count()).toBe(0)
  await context.close()
})

const takesCalls = (more: Partial<WalletCalls> = {}): WalletCalls => ({
  ...{ atomic: 'supported', does: 'atomic', refuses: null, reports: null, sent: new Map() },
  ...more,
})

test('calls taken together name their network: a wallet that leaves it meanwhile pays where the payer chose', async () => {
  const { context, page, wallet, order, open, complaints } = await payerWith({ base: ENOUGH, sepolia: ENOUGH }, SEPOLIA)
  wallet.calls = takesCalls()
  await open()
  const before = await second.balanceOf(MERCHANT.address)
  const release = wallet.hold('wallet_sendCalls')
  await payButton(page).click()
  await page.getByText('Confirm the payment in your wallet').waitFor()
  wallet.network.chainId = BASE_SEPOLIA
  release()
  await title(page, 'Payment sent')
  await until(async () => (await second.balanceOf(MERCHANT.address)) - before === units(order.expected), 'it did not come')
  expect(wallet.asked.filter(method => /send/i.test(method))).toEqual(['wallet_sendCalls'])
  expect(complaints).toEqual([])
  await context.close()
})

test('calls that the wallet still holds of one network are no second payment on another one', async () => {
  const { context, page, wallet, open, order } = await payerWith({ base: ENOUGH, sepolia: ENOUGH }, SEPOLIA)
  wallet.calls = takesCalls({ does: 'nothing', reports: 100 })
  await open()
  await payButton(page).click()
  await title(page, 'Payment sent')
  // Another browser with the same wallet, which is on another network by now.
  await page.evaluate('localStorage.clear()')
  wallet.network.chainId = BASE_SEPOLIA
  await page.goto(urlOf(order))
  await network(page, 'Base Sepolia').check()
  await payButton(page).click()
  await title(page, 'Payment sent')
  expect(wallet.asked.filter(method => /send/i.test(method))).toEqual(['wallet_sendCalls'])
  await context.close()
})

test('the network of the wallet gives no address to an exchange: its own is chosen first', async () => {
  const { context, page, wallet, order, open, complaints } = await payerWith({ base: ENOUGH, sepolia: 0n }, BASE_SEPOLIA)
  await open()
  await page.getByRole('tab', { name: 'By transfer' }).click()
  await page.getByRole('tabpanel').getByText('choose the network that it sends USDC on').waitFor()
  await goTo(page, wallet, SEPOLIA)
  await until(() => network(page, 'Sepolia').isChecked(), 'the page does not follow')
  expect(await page.getByText(order.payment.deposit_address ?? '').count()).toBe(0)
  expect(await page.getByRole('img', { name: 'QR code of the payment' }).count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  await network(page, 'Sepolia').click()
  await page.getByText(order.payment.deposit_address ?? '', { exact: true }).waitFor()
  await page.locator('.transfer .aside').getByText('Base Sepolia or Sepolia').waitFor()
  // The wallet is there as well, and goes on without the payer's choice.
  await goTo(page, wallet, BASE_SEPOLIA)
  await at(page, 'Base Sepolia').getByText('your wallet has 1,000.00 USDC there').waitFor()
  expect(await network(page, 'Sepolia').isChecked()).toBe(true)
  expect(complaints).toEqual([])
  await context.close()
})

const views = [
  [
    'on a desk, in English',
    { language: 'en-US' },
    'that it sends USDC on',
    'I pay from an exchange',
    'By transfer',
    'Base Sepolia or Sepolia',
  ],
  [
    'on a phone, in Portuguese',
    { language: 'pt-BR', viewport: NARROW, hasTouch: true, colorScheme: 'dark' },
    'a rede pela qual',
    'Vou pagar por uma corretora',
    'Por transferência',
    'Base Sepolia ou Sepolia',
  ],
] as const

test.each(views)(
  'by transfer, %s: the network comes first, then its address, code and contract, with where the address is right',
  async (...of) => {
    const [, view, first, fold, , right] = of
    const order = await newOrder()
    const [base, sepolia] = order.payment.networks ?? []
    const { context, page, complaints } = await openVisit(browser, view)
    await page.goto(urlOf(order))
    await network(page, 'Sepolia').waitFor()
    await page.getByText(first).waitFor()
    expect(await page.getByText(order.payment.deposit_address ?? '').count()).toBe(0)
    for (const chosen of [sepolia, base]) {
      if (!chosen) throw new Error('The order may be paid on one network.')
      await network(page, PUBLIC_NAMES[chosen.chain_id] ?? '').check()
      await page.getByText(chosen.deposit_address ?? '', { exact: true }).waitFor()
      await page.locator('.transfer .aside').getByText(right).waitFor()
      await page
        .locator('.field')
        .getByText(PUBLIC_NAMES[chosen.chain_id] ?? '')
        .waitFor()
      if (view.language === 'pt-BR')
        expect(await page.getByRole('link', { name: 'Abrir na carteira deste celular' }).getAttribute('href')).toBe(chosen.payment_uri)
    }
    await page.getByText(fold).click()
    await page.locator('.folded li').getByText(right).waitFor()
    await page.locator('.folded li').getByText('Base Sepolia.').waitFor()
    expect(await seriousFaults(page)).toEqual([])
    expect(await widthOf(page)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)
    expect(complaints).toEqual([])
    await context.close()
  },
)

/** A third network, where the order has no address, and a fourth, where it has another. */
const more = ({ payment }: CheckoutBody) => {
  const [first] = payment.networks ?? []
  if (!first) throw new Error('The order may be paid on one network.')
  const third = {
    ...first,
    network: 'polygon',
    chain_id: 137,
    gasless: false,
    typical_seconds: 128,
    deposit_address: null,
    payment_uri: null,
  }
  const fourth = {
    ...first,
    network: 'arbitrum',
    chain_id: 42_161,
    gasless: false,
    typical_seconds: 130,
    deposit_address: MERCHANT.address,
  }
  return { payment: { ...payment, networks: [...(payment.networks ?? []), third, fourth] } }
}

test('an address is named right only where the order has it, and a network without one is for wallets', async () => {
  const order = await newOrder()
  const { context, page, complaints } = await openVisit(browser, { viewport: NARROW, hasTouch: true })
  await visit(page, system.gatewayUrl, { name: '', path: `/pay/${order.id}`, override: more, ready: heading })
  await network(page, 'Base Sepolia').waitFor()
  // Test nets cost nothing, and name no fee.
  expect(await namesOf(page)).toEqual(['Base Sepolia', 'Sepolia', 'Polygon', 'Arbitrum One'])
  await at(page, 'Arbitrum One')
    .getByText(/fee.usually.below.\$0\.01/)
    .waitFor()
  expect(
    await at(page, 'Base Sepolia')
      .getByText(/fee.usually/)
      .count(),
  ).toBe(0)
  await at(page, 'Base Sepolia').getByText('You only sign').waitFor()
  await network(page, 'Arbitrum One').check()
  await page.getByText('I pay from an exchange').click()
  await page.locator('.folded li').getByText('the network Arbitrum One.').waitFor()
  const warning = page.locator('.transfer .aside')
  await warning.getByText('only on Arbitrum One.').waitFor()
  await page.getByText(MERCHANT.address, { exact: true }).waitFor()
  await network(page, 'Base Sepolia').check()
  await warning.getByText('only on Base Sepolia or Sepolia.').waitFor()
  await network(page, 'Polygon').check()
  await page.getByText('This browser has no wallet').waitFor()
  expect(await page.getByRole('tab').count()).toBe(0)
  expect(await page.locator('.transfer').count()).toBe(0)
  expect(await widthOf(page)).toBeLessThanOrEqual(NARROW.width)
  expect(await seriousFaults(page)).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})

test.each([[BASE_SEPOLIA], [SEPOLIA]])(
  'beside a signature for %s that others may still submit no other network is offered',
  async chain_id => {
    const order = await newOrder()
    const { context, page } = await payerBefore(order)
    const failed = (body: CheckoutBody) => {
      const { authorization, ...rest } = state.signatureFailed(body)
      return { ...rest, ...(authorization ? { authorization: { ...authorization, chain_id } } : {}) }
    }
    await visit(page, system.gatewayUrl, { name: '', path: `/pay/${order.id}`, override: failed, ready: heading })
    await page.getByRole('button', { name: 'Sign and pay without a fee' }).waitFor()
    expect(await namesOf(page)).toEqual([PUBLIC_NAMES[chain_id]])
    await context.close()
  },
)

test('the choice that was lost on its way leaves the first network, which is right alone', async () => {
  const order = await newOrder()
  const { context, page } = await openVisit(browser)
  await page.route('**/assets/parts-*.js', route => route.abort())
  await page.goto(urlOf(order))
  await page.locator('.transfer .aside').getByText('only on Base Sepolia.').waitFor()
  await page.getByText(order.payment.deposit_address ?? '', { exact: true }).waitFor()
  expect(await page.getByRole('radio').count()).toBe(0)
  await context.close()
})

test('a receipt and the merchant’s page of the order name the network of each payment', async () => {
  const order = await newOrder()
  await pay(world.chain, order)
  const read = () => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
  await until(async () => (await read()).status === 'paid', 'it is not paid')
  const elsewhere = <Body extends Pick<OrderBody, 'payments'>>(body: Body): Body => {
    const [paid] = body.payments ?? []
    if (!paid) throw new Error('The order has no payment.')
    return { ...body, payments: [paid, { ...paid, tx_hash: `0x${order.memo}`, network: 'sepolia', chain_id: SEPOLIA }] }
  }
  const views: Visit[] = [{ language: 'en-US' }, { language: 'pt-BR', viewport: NARROW, hasTouch: true }]
  for (const view of views) {
    const { context, page, complaints } = await openVisit(browser, view)
    await visit(page, system.gatewayUrl, { name: '', path: `/pay/${order.id}`, override: elsewhere, ready: heading })
    const links = page.locator('.payments a')
    await links.nth(1).waitFor()
    const hosts = ['sepolia.basescan.org', 'sepolia.etherscan.io']
    const hostsOf = () => links.evaluateAll(all => all.map(link => new URL(String(Reflect.get(link, 'href'))).host))
    expect(await hostsOf()).toEqual(hosts)
    await page
      .locator('.payments li')
      .nth(1)
      .getByText(/ · Sepolia$/)
      .waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await visit(page, system.gatewayUrl, { name: '', path: `/pay/receipt/${order.id}`, override: elsewhere, ready: heading })
    for (const { chain_id } of order.payment.networks ?? [])
      await page.getByText(`${PUBLIC_NAMES[chain_id]} (chain ID ${chain_id})`, { exact: true }).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    expect(await widthOf(page)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)

    await logIn(page, system.gatewayUrl, merchant.email)
    await page.route(new RegExp(`/api/.*/orders/${order.id}$`), async route => {
      const response = await route.fetch()
      await route.fulfill({ response, json: elsewhere((await response.json()) as OrderBody) })
    })
    await page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
    await page.getByText('Base Sepolia, Sepolia', { exact: true }).waitFor()
    await page
      .locator('.payments li')
      .nth(1)
      .getByText(/ · Sepolia$/)
      .waitFor()
    expect(await hostsOf()).toEqual(hosts)
    // Two payments of the same amount in the same second are two entries, also when the page looks again.
    expect(await page.locator('.timeline .mono').count()).toBe(2)
    expect(await seriousFaults(page)).toEqual([])
    expect(await widthOf(page)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    expect(complaints).toEqual([])
    await context.close()
  }
})

describe.each([
  ['en-US', 'Network', 'Save the networks', ['Another address on one network', 'Change the address', 'On Sepolia', 'Cancel the change']],
  ['pt-BR', 'Rede', 'Salvar as redes', ['Outro endereço em uma rede', 'Trocar o endereço', 'Na rede Sepolia', 'Cancelar a troca']],
] as const)('in %s', (language, label, save, [another, change, named, withdraw]) => {
  test.each([DESKTOP, NARROW])(
    'a merchant names another payout address for one network, and withdraws it, on a page of %j',
    async viewport => {
      const { context, page, complaints } = await openVisit(browser, { language, viewport })
      await logIn(page, system.gatewayUrl, merchant.email)
      const fits = async () => {
        expect(await seriousFaults(page)).toEqual([])
        expect(await widthOf(page)).toBeLessThanOrEqual(viewport.width)
      }
      const waiting = async () =>
        (await call<MerchantBody>(system.gatewayUrl, 'GET', '/api/v1/merchants/me', merchant.token)).pending_payout_change
      await page.goto(`${system.gatewayUrl}/dashboard/settings`)
      await page.getByRole('button', { name: another }).click()
      const dialog = page.getByRole('dialog')
      const typed = dialog.locator('input[name=payout_addresses]')
      await dialog.getByLabel(label, { exact: true }).selectOption({ label: 'Sepolia' })
      await typed.fill('0x12')
      await dialog.getByRole('button', { name: change }).click()
      await dialog.locator('[aria-invalid=true]').waitFor()
      await fits()
      const { address } = Wallet.createRandom()
      await typed.fill(address)
      await dialog.getByRole('button', { name: change }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.getByText(named).first().waitFor()
      expect(await waiting()).toMatchObject({ chain_id: SEPOLIA, payout_address: address })
      await fits()
      await page.getByRole('button', { name: withdraw }).first().click()
      await dialog.getByRole('button', { name: withdraw }).click()
      await dialog.waitFor({ state: 'detached' })
      await until(async () => (await waiting()) === null, 'it still waits')
      expect(complaints).toEqual([])
      await context.close()
    },
  )

  test.each([DESKTOP, NARROW])(
    'a merchant chooses the networks of new orders, and the network of a list, on a page of %j',
    async viewport => {
      const { context, page, complaints } = await openVisit(browser, { language, viewport })
      await logIn(page, system.gatewayUrl, merchant.email)
      const fits = async () => {
        expect(await seriousFaults(page)).toEqual([])
        expect(await widthOf(page)).toBeLessThanOrEqual(viewport.width)
      }
      const chosen = async () => (await call<MerchantBody>(system.gatewayUrl, 'GET', '/api/v1/merchants/me', merchant.token)).chain_ids
      await page.goto(`${system.gatewayUrl}/dashboard/settings`)
      const [always, other] = [page.getByLabel(/^Base Sepolia \(/), page.getByLabel('Sepolia', { exact: true })]
      await other.waitFor()
      expect([await always.isDisabled(), await always.isChecked(), await other.isChecked()]).toEqual([true, true, true])
      await other.uncheck()
      await page.getByRole('button', { name: save }).click()
      await until(async () => (await chosen()) !== null, 'the choice is not kept')
      expect(await chosen()).toEqual([BASE_SEPOLIA])
      expect((await newOrder()).payment.networks).toBeUndefined()
      await fits()
      await page.reload()
      await other.waitFor()
      expect(await other.isChecked()).toBe(false)
      await other.check()
      await page.getByRole('button', { name: save }).click()
      await until(async () => (await chosen()) === null, 'the choice is not taken back')

      for (const [path, list] of [
        ['orders', 'orders'],
        ['attention', 'attention'],
        ['month', 'entries'],
      ]) {
        await page.goto(`${system.gatewayUrl}/dashboard/${path}`)
        const asked = page.waitForResponse(
          response => response.url().includes(`/${list}?`) && response.url().includes(`chain_id=${SEPOLIA}`),
        )
        await page.getByLabel(label, { exact: true }).selectOption({ label: 'Sepolia' })
        expect((await asked).status()).toBe(200)
        expect(new URL(page.url()).searchParams.get('network')).toBe(String(SEPOLIA))
        await fits()
      }
      expect(complaints).toEqual([])
      await context.close()
    },
  )
})
