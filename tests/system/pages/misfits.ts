import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { receiveWithAuthorizationTypedData } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { toBeHex, Wallet } from 'ethers'
import type { Locator, Page } from 'playwright-core'
import { askGateway, call, createMerchant, pay, system, units, world } from '../../world'
import { DESKTOP, injectWallet, openVisit, PHONE, seriousFaults } from './browser'
import { logIn } from './every-page'
import { browser, runPages } from './run-pages'

// Each act on money that did not fit, from the page where it begins to its end, as a merchant and a payer do it. The time of each is printed.

/** Each merchant has an address of their own: of several who name one, the first alone may count what came there for no order. */
const ACCOUNTS = [2, 8] as const
const TEXTS = {
  'en-US': {
    ...{ accept: 'Count as paid', attach: 'Count for an order', find: 'Search by number, amount, address or link' },
    ...{ why: 'Why, for your own records', recover: 'Recover', recoverThere: 'Recover to this address', refunds: 'Refunds' },
    ...{ coins: 'Other coins', recovered: 'It was sent to your payout address.' },
    ...{ fresh: 'Return money', amount: 'Amount in USDC', reason: 'Why, for your records', next: 'Continue', sign: /^Sign/ },
    ...{ returned: 'Returned', byLink: 'Ask the payer for an address', see: 'See the page' },
    ...{ hash: 'Transaction hash, or its link', check: 'Check', lost: 'I have paid, but this page does not show it' },
    explained: /^Another coin/,
  },
  'pt-BR': {
    ...{ accept: 'Contar como paga', attach: 'Contar em uma cobrança', find: 'Busque por número, valor, endereço ou link' },
    ...{ why: 'Por quê, para o seu registro', recover: 'Recuperar', recoverThere: 'Recuperar para este endereço', refunds: 'Devoluções' },
    ...{ coins: 'Outras moedas', recovered: 'Foi enviada ao seu endereço de recebimento.' },
    ...{ fresh: 'Devolver dinheiro', amount: 'Valor em USDC', reason: 'Por quê, para o seu registro', next: 'Continuar', sign: /^Assinar/ },
    ...{ returned: 'Devolvido', byLink: 'Pedir o endereço ao pagador', see: 'Ver a página' },
    ...{ hash: 'Código (hash) da transação, ou o link dela', check: 'Verificar', lost: 'Paguei, mas o pagamento não aparece aqui' },
    explained: /outra moeda/,
  },
} as const

const took: Record<string, Record<string, string>> = {}
afterAll(async () => {
  console.table(took)
})
runPages({ merchant: false })
beforeAll(async () => {
  for (const account of ACCOUNTS) await mined(world.chain.mintUsdc(world.chain.wallet(account).address, 1_000_000_000n))
})

async function newMerchant(account: number) {
  const merchant = await createMerchant(world, system.gatewayUrl, world.receiverUrl, world.chain.wallet(account).address)
  // Blocks count whole seconds: one of the second in which the merchant was made is of before them.
  await until(async () => {
    await world.chain.mine()
    return ((await world.chain.provider.getBlock('latest'))?.timestamp ?? 0) * 1_000 > Date.parse(merchant.created_at)
  }, 'the chain has no later second')
  const ask = <T>(method: 'GET' | 'POST', path: string, body?: object) =>
    call<T>(system.gatewayUrl, method, `/api/v1${path}`, merchant.api_key, body)
  const ordered = (external_ref: string) => ask<OrderBody>('POST', '/orders', { brl_amount: '10.00', external_ref })
  const shown = ({ id }: OrderBody) => ask<OrderBody>('GET', `/orders/${id}`)
  return { merchant, ordered, shown }
}

/** By a signature of the payer's wallet, which proves whose address it is. */
async function payBySignature(order: OrderBody, amount: bigint): Promise<string> {
  const payer = Wallet.createRandom()
  await mined(world.chain.mintUsdc(payer.address, amount))
  const [salt, validBefore] = [toBeHex(amount, 32), BigInt(Math.floor(Date.parse(order.expires_at) / 1_000))]
  const { domain, types, message } = receiveWithAuthorizationTypedData({
    ...{ memo: order.memo, merchant: order.payment.merchant_address, payer: payer.address, amount, validBefore, salt },
    ...{ chainId: world.chain.chainId, usdcAddress: world.chain.usdcAddress, router: order.payment.router_address },
  })
  const signature = await payer.signTypedData(domain, types, message)
  const body = { payer_address: payer.address, amount: usdc(amount), valid_before: Number(validBefore), salt, signature }
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  expect((await askGateway(system.gatewayUrl, `/api/v1/checkout/${order.id}/authorization`, init)).status).toBe(202)
  return payer.address
}
const usdc = (amount: bigint) => `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`

test.each([
  ['on a desk in English', DESKTOP, 'en-US', ACCOUNTS[0]],
  ['on a phone in Portuguese', PHONE, 'pt-BR', ACCOUNTS[1]],
] as const)(
  'money that did not fit is accepted, attached, explained, recovered and returned, %s',
  async (name, viewport, language, account) => {
    const texts = TEXTS[language]
    const { merchant, ordered, shown } = await newMerchant(account)
    const { context, page, complaints, strangers } = await openVisit(browser, { viewport, language })
    await injectWallet(context, world.chain, account)
    await logIn(page, system.gatewayUrl, merchant.email)
    const open = (path: string, on = page) => on.goto(`${system.gatewayUrl}${path}`)
    const dialog = page.getByRole('dialog')
    const button = (text: string | RegExp, of: Page | Locator = page) => of.getByRole('button', { name: text, exact: true })
    const act = async (what: string, work: () => Promise<void>) => {
      const since = performance.now()
      await work()
      took[what] = { ...took[what], [name]: `${((performance.now() - since) / 1_000).toFixed(1)} s` }
      expect(await seriousFaults(page)).toEqual([])
    }
    const isPaid = (order: OrderBody) => until(async () => (await shown(order)).status === 'paid', `${order.external_ref} is not paid`)

    const short = await ordered('SHORT-1')
    await pay(world.chain, short, units(short.usdc_amount) - 1_000_000n)
    await system.idle()
    await act('accept', async () => {
      await open('/dashboard/attention')
      await page.locator('.case').filter({ hasText: 'SHORT-1' }).click()
      await button(texts.accept).click()
      await dialog.getByLabel(texts.why).fill('The exchange kept it')
      await button(texts.accept, dialog).click()
      await isPaid(short)
    })

    const waiting = await ordered('WAITING-1')
    await pay(world.chain, { ...waiting, memo: Wallet.createRandom().privateKey.slice(2) })
    await system.idle()
    await act('attach', async () => {
      await open('/dashboard/attention')
      await page.locator('.case').first().click()
      await button(texts.attach).click()
      await dialog.getByLabel(texts.find).fill('#waiting-1')
      await dialog.getByRole('option', { name: /^WAITING-1/ }).waitFor({ state: 'attached' })
      await dialog.locator('select[name=order_id]').selectOption(waiting.id)
      await dialog.getByLabel(texts.why).fill('The memo was typed wrong')
      await button(texts.attach, dialog).click()
      await isPaid(waiting)
    })

    const coin = await ordered('COIN-1')
    const { hash } = await mined(world.chain.wallet(6).sendTransaction({ to: coin.payment.deposit_address, value: 1_000_000n }))
    await system.idle()
    const payer = await openVisit(browser, { viewport, language })
    await act('explain, to the payer', async () => {
      await open(`/pay/${coin.id}`, payer.page)
      await payer.page.getByText(texts.lost).click()
      await payer.page.getByLabel(texts.hash).fill(hash)
      await button(texts.check, payer.page).click()
      await payer.page.getByText(texts.explained).first().waitFor()
    })
    await act('explain, to the merchant', async () => {
      await open(`/dashboard/orders/${coin.id}`)
      await page.getByLabel(texts.hash).fill(hash)
      await button(texts.check).click()
      await page.getByText(texts.explained).first().waitFor()
    })
    await act('recover', async () => {
      const held = () => world.chain.provider.getBalance(coin.payment.merchant_address)
      const before = await held()
      await open('/dashboard/attention')
      await page.getByRole('link', { name: /COIN-1/ }).click()
      await button(texts.recover).click()
      await button(texts.recoverThere).click()
      await until(async () => (await held()) - before === 1_000_000n, 'it was not recovered')
      await open(`/dashboard/orders/${coin.id}`)
      await page
        .locator('.card', { has: page.getByRole('heading', { name: texts.coins, exact: true }) })
        .getByText(texts.recovered)
        .waitFor()
    })

    const card = page.locator('.card').filter({ has: page.getByRole('heading', { name: texts.refunds, exact: true }) })
    const over = await ordered('OVER-1')
    const signed = await payBySignature(over, units(over.usdc_amount))
    await isPaid(over)
    await system.idle()
    await act('return, to a wallet that signed', async () => {
      await open(`/dashboard/orders/${over.id}`)
      await button(texts.fresh, card).click()
      await dialog.getByLabel(texts.amount).fill(language === 'pt-BR' ? '0,50' : '0.50')
      await dialog.getByLabel(texts.reason).fill('A part of it was sold out')
      await button(texts.next, dialog).click()
      await button(texts.sign, card).click()
      await card.getByText(texts.returned, { exact: true }).waitFor()
      expect(await world.chain.balanceOf(signed)).toBe(500_000n)
    })

    const exchange = await ordered('EXCHANGE-1')
    const { hash: paidBy } = await pay(world.chain, exchange, units(exchange.usdc_amount) + 3_000_000n)
    await system.idle()
    const payee = Wallet.createRandom().address
    await act('return, to an address by the payer’s link', async () => {
      await open(`/dashboard/orders/${exchange.id}`)
      await button(texts.byLink, card).click()
      await dialog.getByLabel(texts.reason).fill('Paid too much, from an exchange')
      await button(texts.next, dialog).click()
      const link = await card.getByRole('link', { name: texts.see }).getAttribute('href')
      await payer.page.goto(String(link))
      const field = (of: string) => payer.page.locator(`input[name=${of}]`)
      await field('payee_address').fill(payee)
      await field('tx_hash').fill(paidBy)
      const came = usdc(units(exchange.usdc_amount) + 3_000_000n)
      await field('amount').fill(language === 'pt-BR' ? came.replace('.', ',') : came)
      await payer.page.locator('button.primary').click()
      await payer.page.getByText(payee.slice(-4)).waitFor()
      await payer.page.locator('button.primary').click()
      await payer.page.locator('main[data-status=claimed]').waitFor()
      await button(texts.sign, card).click()
      await card.getByText(texts.returned, { exact: true }).waitFor()
      await payer.page.locator('main[data-status=confirmed]').waitFor()
      expect(await world.chain.balanceOf(payee)).toBe(3_000_000n)
    })
    for (const visit of [{ complaints, strangers }, payer]) expect([visit.complaints, visit.strangers]).toEqual([[], []])
    await context.close()
    await payer.context.close()
  },
  300_000,
)
