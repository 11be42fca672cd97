import type { CheckoutBody, OrderBody } from '@ponte/contracts'
import { type LocalChain, mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import type { Page } from 'playwright-core'
import { call, merchant, system, units, world } from '../../world'
import { injectWallet, openVisit, PHONE, seriousFaults, type Visit } from './browser'
import { browser, runPages } from './run-pages'
import { makeSponsored, type WalletCalls } from './wallet-calls'

// Wallets that take approval and payment with one confirmation (EIP-5792), and those that only report that they do.

const BASE_SEPOLIA = 84_532
const UNKNOWN = 'Your wallet answered with an error'

runPages({ world: { confirmations: 2, chain: { blockTimeS: 1, mixedMining: true, chainId: BASE_SEPOLIA } } })

const payButton = (page: Page) => page.getByRole('button', { name: /^(Pay with|Pagar com)/ })
const title = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor()
const newOrder = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
const checkoutOf = async ({ id }: OrderBody) => (await (await fetch(`${system.gatewayUrl}/api/v1/checkout/${id}`)).json()) as CheckoutBody

async function payerBefore(calls: Partial<WalletCalls> = {}, options: Visit = {}) {
  const order = await newOrder()
  // An account that delegates stays so: each payer is a new one, without an allowance or code.
  const { address, privateKey } = Wallet.createRandom()
  await world.chain.provider.send('anvil_setBalance', [address, '0xde0b6b3a7640000'])
  await mined(world.chain.mintUsdc(address, units(order.usdc_amount)))
  const visit = await openVisit(browser, options)
  const wallet = await injectWallet(visit.context, world.chain, privateKey)
  wallet.network.chainId = BASE_SEPOLIA
  wallet.calls = { atomic: 'supported', does: 'atomic', refuses: null, reports: null, sent: new Map(), ...calls }
  await visit.page.goto(`${system.gatewayUrl}/pay/${order.id}`)
  await payButton(visit.page).waitFor()
  const confirmed = () => wallet.asked.filter(method => /^(eth_sendTransaction|eth_sign|wallet_sendCalls)/.test(method))
  return { ...visit, wallet, calls: wallet.calls, order, address, confirmed }
}

const isPaidOnce = async (order: OrderBody, chain: LocalChain, address: string) => {
  expect(await checkoutOf(order)).toMatchObject({ status: 'paid', exception: null })
  expect(await chain.balanceOf(address)).toBe(0n)
}

test.each([
  ['supported', {}],
  ['ready', { viewport: PHONE, hasTouch: true }],
] as const)('a wallet whose chain is %s pays with one confirmation, in one transaction, and leaves no allowance', async (atomic, view) => {
  const { context, page, order, address, confirmed, calls, complaints, strangers } = await payerBefore({ atomic }, view)
  await payButton(page).click()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['wallet_sendCalls'])
  expect(calls.sent.size).toBe(1)
  await isPaidOnce(order, world.chain, address)
  const [owner, spender] = [address, order.payment.router_address].map(a => a.slice(2).padStart(64, '0'))
  const data = `0xdd62ed3e${owner}${spender}`
  expect(await world.chain.provider.call({ to: order.payment.token_address, data })).toBe(`0x${'0'.repeat(64)}`)
  expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] })
  await context.close()
})

test('an order that is cancelled while the wallet connects is not paid', async () => {
  const { context, page, wallet, confirmed, order, complaints } = await payerBefore()
  const release = wallet.hold('eth_requestAccounts')
  await payButton(page).click()
  await page.getByText('Open your wallet and allow').waitFor()
  await call(system.gatewayUrl, 'POST', `/api/v1/orders/${order.id}/cancel`, merchant.api_key, {})
  await title(page, 'Invoice cancelled')
  release()
  const paying = () => page.evaluate<number>('navigator.locks.query().then(({ held }) => held.length)')
  await until(async () => (await paying()) === 0, 'the page still waits for the wallet')
  expect({ confirmed: confirmed(), complaints }).toEqual({ confirmed: [], complaints: [] })
  await context.close()
})

test('an account whose fees others pay needs none of the network’s coin', async () => {
  const { context, page, order, address, confirmed } = await payerBefore({ does: 'sponsored' })
  await makeSponsored(world.chain, address)
  await payButton(page).click()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['wallet_sendCalls'])
  await isPaidOnce(order, world.chain, address)
  await context.close()
})

test('a chain of which the wallet promises nothing is paid in two steps', async () => {
  const { context, page, confirmed } = await payerBefore({ atomic: 'unsupported' })
  await payButton(page).click()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['eth_signTypedData_v4', 'eth_sendTransaction'])
  await context.close()
})

test('a payer who refuses has sent nothing, and may try again', async () => {
  const { context, page, wallet, confirmed, order, address } = await payerBefore()
  wallet.refuse('wallet_sendCalls')
  await payButton(page).click()
  await page.getByText('You refused in your wallet').waitFor()
  // No other way is asked for that the payer did not choose.
  expect(confirmed()).toEqual(['wallet_sendCalls'])
  expect(await seriousFaults(page)).toEqual([])
  await payButton(page).click()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['wallet_sendCalls', 'wallet_sendCalls'])
  await isPaidOnce(order, world.chain, address)
  await context.close()
})

test.each([
  ['an upgrade of the account that the payer refused', 5750],
  ['calls that are not done at once after all', 5760],
  ['a capability that the wallet does not have', 5700],
  ['a chain that it does not do them on', 5710],
  ['an older form of the request', -32602],
  ['a method that it does not have', -32601],
  ['a method that it does not allow', 4200],
])('%s: two steps follow in the same click', async (_, refuses) => {
  const { context, page, confirmed, order, address, complaints } = await payerBefore({ refuses })
  await payButton(page).click()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['wallet_sendCalls', 'eth_signTypedData_v4', 'eth_sendTransaction'])
  await isPaidOnce(order, world.chain, address)
  expect(complaints).toEqual([])
  await context.close()
})

test('an error without a known reason sends the payer to the wallet first, and to two steps then', async () => {
  const { context, page, confirmed, order, address } = await payerBefore({ refuses: -32603 })
  await payButton(page).click()
  await page.getByText(UNKNOWN).waitFor()
  expect(confirmed()).toEqual(['wallet_sendCalls'])
  await payButton(page).click()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['wallet_sendCalls', 'eth_signTypedData_v4', 'eth_sendTransaction'])
  await isPaidOnce(order, world.chain, address)
  await context.close()
})

test('a wallet that has the calls already, and shows nothing of them, is answered there first; then two steps follow', async () => {
  const { context, page, confirmed, order, address } = await payerBefore({ refuses: 5720 })
  await payButton(page).click()
  await page.getByText('Your wallet already has an open request').waitFor()
  expect(confirmed()).toEqual(['wallet_sendCalls'])
  await payButton(page).click()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['wallet_sendCalls', 'wallet_sendCalls', 'eth_signTypedData_v4', 'eth_sendTransaction'])
  await isPaidOnce(order, world.chain, address)
  await context.close()
})

test('a wallet that leaves the question for capabilities open is not waited for', async () => {
  const { context, page, wallet, confirmed } = await payerBefore()
  const release = wallet.hold('wallet_getCapabilities')
  await payButton(page).click()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['eth_signTypedData_v4', 'eth_sendTransaction'])
  release()
  await context.close()
})

test('calls that are undone together are noticed, shown, and paid in two steps', async () => {
  const { context, page, wallet, confirmed, order, address } = await payerBefore()
  wallet.gasLimit = 100_000
  await payButton(page).click()
  await title(page, 'The transaction failed')
  expect(await seriousFaults(page)).toEqual([])
  expect(await world.chain.balanceOf(address)).toBe(units(order.usdc_amount))
  wallet.gasLimit = null
  await payButton(page).click()
  await title(page, 'Paid')
  // A permit is by an account's key, and this one has code by now.
  expect(confirmed()).toEqual(['wallet_sendCalls', 'eth_sendTransaction', 'eth_sendTransaction'])
  await isPaidOnce(order, world.chain, address)
  await context.close()
})

test('a wallet that sends them apart pays once, and what it approved pays the next time where the payment failed', async () => {
  const { context, page, wallet, confirmed, order, address } = await payerBefore({ does: 'apart' })
  wallet.gasLimit = 60_000
  await payButton(page).click()
  await title(page, 'The transaction failed')
  wallet.gasLimit = null
  await payButton(page).click()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['wallet_sendCalls', 'eth_sendTransaction'])
  await isPaidOnce(order, world.chain, address)
  await context.close()
})

test('a wallet that takes calls and sends nothing, or reports an end that is none, leaves a way to pay after a while', async () => {
  for (const reports of [100, 200]) {
    const { context, page, confirmed, order, address } = await payerBefore({ does: 'nothing', reports })
    await page.clock.install()
    await payButton(page).click()
    await title(page, 'Payment sent')
    expect(await payButton(page).count()).toBe(0)
    await page.clock.fastForward('01:40')
    await page.getByRole('button', { name: 'It failed: pay again' }).click()
    // A payer who has looked into the wallet is believed.
    await payButton(page).click()
    await title(page, 'Paid')
    expect(confirmed()).toEqual(['wallet_sendCalls', 'eth_signTypedData_v4', 'eth_sendTransaction'])
    await isPaidOnce(order, world.chain, address)
    await context.close()
  }
})

test('a reload while the wallet asks: the same calls are asked for again, and the payer pays once', async () => {
  const { context, page, wallet, calls, confirmed, order, address } = await payerBefore()
  const release = wallet.hold('wallet_sendCalls')
  await payButton(page).click()
  await page.getByText('Confirm the payment in your wallet').waitFor()
  await page.reload()
  await payButton(page).click()
  await page.getByText('Confirm the payment in your wallet').waitFor()
  release()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['wallet_sendCalls', 'wallet_sendCalls'])
  expect(calls.sent.size).toBe(1)
  await isPaidOnce(order, world.chain, address)
  await context.close()
})

test('a reload after the wallet took them shows the payment sent, with its transaction once the wallet names it', async () => {
  const { context, page, confirmed, order, address } = await payerBefore()
  const goOn = await world.chain.halt()
  try {
    await payButton(page).click()
    await title(page, 'Payment sent')
    await page.reload()
    await title(page, 'Payment sent')
    expect(await payButton(page).count()).toBe(0)
    // Another browser of the same wallet would ask for the same calls; this one forgets what left from it.
    await page.evaluate('localStorage.clear()')
    await page.reload()
    await payButton(page).click()
    await title(page, 'Payment sent')
    expect(confirmed()).toEqual(['wallet_sendCalls'])
    expect(await seriousFaults(page)).toEqual([])
  } finally {
    await goOn()
  }
  await title(page, 'Paid')
  await isPaidOnce(order, world.chain, address)
  await context.close()
})

test('without the part of the page that does it, the payer pays in two steps', async () => {
  const { context, page, confirmed } = await payerBefore()
  await page.route('**/assets/parts-*.js', route => route.abort())
  await page.reload()
  await payButton(page).click()
  await title(page, 'Paid')
  expect(confirmed()).toEqual(['eth_sendTransaction', 'eth_sendTransaction'])
  await context.close()
})
