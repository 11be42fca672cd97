import type { OrderBody } from '@ponte/contracts'
import { mined, startLocalChain, testAccounts } from '@ponte/local-servers'
import { deployContracts, testUsdcAbi } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { Contract, Wallet } from 'ethers'
import { call, MERCHANT, merchant, pay, system, units, world } from '../../world'
import { injectWallet, openVisit, PHONE, seriousFaults } from './browser'
import { logIn } from './every-page'
import { browser, runPages } from './run-pages'

// A hash is quoted where its payment does not show: by the payer at the checkout, and by the merchant at the order.

const STRANGER = testAccounts[7]
runPages()

const newOrder = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
/** A million units of USDC, as a payer sends them to the wrong place. */
async function astray(): Promise<{ hash: string; to: string }> {
  const [stranger, to] = [world.chain.wallet(STRANGER.privateKey), Wallet.createRandom().address]
  await mined(world.chain.mintUsdc(stranger.address, 1_000_000n))
  return { to, hash: (await mined(world.chain.transferUsdc(stranger, to, 1_000_000n))).hash }
}

test('a payer quotes a hash at the checkout and reads why it does not show', async () => {
  const order = await newOrder()
  const { context, page, complaints, strangers } = await openVisit(browser)
  await page.goto(`${system.gatewayUrl}/pay/${order.id}`)
  await page.getByText('I have paid, but this page does not show it').click()
  const field = page.getByLabel('Transaction hash, or its link')
  const ask = async (text: string) => {
    await field.fill(text)
    await page.getByRole('button', { name: 'Check', exact: true }).click()
  }
  await ask('no hash')
  await page.getByText('Paste the code that the wallet or the exchange shows').waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  await ask(`0x${'5b'.repeat(32)}`)
  await page.getByText('The network of this invoice does not know that transaction').waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('false')
  const { hash, to } = await astray()
  await ask(`https://basescan.org/tx/${hash}`)
  await page.getByText(`The transaction sent 1.00 USDC to ${to}, which is not where this invoice is paid.`).waitFor()
  expect({ complaints, strangers, faults: await seriousFaults(page) }).toEqual({ complaints: [], strangers: [], faults: [] })
  await pay(world.chain, order)
  await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
  expect(await field.count()).toBe(0)
  await context.close()
})

test('in Portuguese on a phone, at a cancelled order too', async () => {
  const order = await newOrder()
  await call(system.gatewayUrl, 'POST', `/api/v1/orders/${order.id}/cancel`, merchant.api_key)
  await system.idle()
  const stranger = world.chain.wallet(STRANGER.privateKey)
  const other = await deployContracts(stranger, { feeBps: 100, feeReceiver: stranger.address })
  const token = new Contract(other.usdcAddress, testUsdcAbi, stranger)
  const { hash } = await mined(token.getFunction('mint').send(order.payment.deposit_address, 1_000_000n))
  const { context, page } = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await page.goto(`${system.gatewayUrl}/pay/${order.id}`)
  await page.getByText('Paguei, mas o pagamento não aparece aqui').click()
  await page.getByLabel('Código (hash) da transação, ou o link dela').fill(hash)
  await page.keyboard.press('Enter')
  await page.getByText(`Foi enviada outra moeda (${other.usdcAddress}) ao endereço desta cobrança`).waitFor()
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  expect(await seriousFaults(page)).toEqual([])
  await context.close()
})

test('a merchant quotes it at the order, and is led to the order that it paid', async () => {
  const [order, paid] = [await newOrder(), await newOrder()]
  await system.idle()
  const { hash } = await pay(world.chain, paid)
  await system.idle()
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
  const card = page
    .locator('.card')
    .filter({ has: page.getByRole('heading', { name: 'The customer has paid, and it does not show here?' }) })
  await card.getByLabel('Transaction hash, or its link').fill('no hash')
  await card.getByRole('button', { name: 'Check', exact: true }).click()
  await card.getByText('Paste the code that the wallet or the exchange shows').waitFor()
  await card.getByLabel('Transaction hash, or its link').fill(hash)
  await card.getByRole('button', { name: 'Check', exact: true }).click()
  await card.getByText('That transaction paid another invoice.').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await card.getByRole('link', { name: 'See the other invoice' }).click()
  await page.waitForURL(`**/dashboard/orders/${paid.id}`)
  await page.getByText('Paid', { exact: true }).first().waitFor()
  expect(await card.count()).toBe(0)
  expect(complaints).toEqual([])
  await context.close()
})

test('a merchant finds with the own wallet what came on a network that is not followed, and has it sent on', async () => {
  const elsewhere = await startLocalChain({ chainId: 10 })
  try {
    const order = await newOrder()
    expect(elsewhere.routerAddress).toBe(order.payment.router_address)
    const payer = elsewhere.wallet(STRANGER.privateKey)
    await mined(elsewhere.mintUsdc(payer.address, units(order.usdc_amount)))
    const { hash } = await mined(elsewhere.transferUsdc(payer, order.payment.deposit_address ?? '', units(order.usdc_amount)))
    for (const { language, viewport, texts } of [
      {
        ...{ language: 'pt-BR' as const, viewport: PHONE },
        texts: {
          ...{
            hash: 'Código (hash) da transação, ou o link dela',
            check: 'Verificar',
            look: /^Procurar/,
            offered: /que esta cobrança já oferece/,
          },
          ...{ found: /estão no endereço desta cobrança na rede OP Mainnet/, sure: /é seu também na rede OP Mainnet/ },
          ...{ send: 'Enviar ao meu endereço', sent: /^Enviado\./ },
        },
      },
      {
        ...{ language: 'en-US' as const, viewport: undefined },
        texts: {
          ...{ hash: 'Transaction hash, or its link', check: 'Check', look: /^Look/, offered: /which this invoice offers already/ },
          ...{ found: /lie at the address of this invoice on OP Mainnet/, sure: /is yours on OP Mainnet too/ },
          ...{ send: 'Send to my address', sent: /^Sent\./ },
        },
      },
    ]) {
      const { context, page, complaints } = await openVisit(browser, { language, ...(viewport ? { viewport } : {}) })
      const wallet = await injectWallet(context, world.chain, MERCHANT.privateKey, [elsewhere])
      wallet.network.chainId = world.chain.chainId
      await logIn(page, system.gatewayUrl, merchant.email)
      await page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
      await page.getByLabel(texts.hash).fill(hash)
      await page.getByRole('button', { name: texts.check, exact: true }).click()
      const look = page.getByRole('button', { name: texts.look })
      await look.click()
      await page.getByText(texts.offered).waitFor()
      wallet.network.chainId = 10
      await look.click()
      await page.getByText(texts.found).waitFor()
      await page.getByText(texts.sure).waitFor()
      await page.getByText(order.payment.merchant_address, { exact: true }).first().waitFor()
      expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
      expect(await seriousFaults(page)).toEqual([])
      if (language === 'en-US') {
        await page.getByRole('button', { name: texts.send }).click()
        await page.getByText(texts.sent).waitFor()
      }
      expect(complaints).toEqual([])
      await context.close()
    }
    const due = units(order.usdc_amount)
    await until(async () => (await elsewhere.balanceOf(order.payment.deposit_address ?? '')) === 0n, 'it was not sent on')
    expect(await elsewhere.balanceOf(order.payment.merchant_address)).toBe(due - (due * BigInt(elsewhere.feeBps)) / 10_000n)
  } finally {
    await elsewhere.stop()
  }
}, 180_000)
