import type { AttentionItemBody, List, OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import type { Page } from 'playwright-core'
import { call, createMerchant, pay, system, units, world } from '../../world'
import { DESKTOP, openVisit, PHONE, seriousFaults } from './browser'
import { logIn } from './every-page'
import { browser, runPages } from './run-pages'

// The list of what needs attention, worked through.

runPages({ merchant: false })

async function newMerchant() {
  // Its own address: of several who name one, the first may count what came there for no order.
  const merchant = await createMerchant(world, system.gatewayUrl, world.receiverUrl, Wallet.createRandom().address)
  // Blocks count whole seconds: one of the second in which the merchant was made is of before them.
  await until(async () => {
    await world.chain.mine()
    return ((await world.chain.provider.getBlock('latest'))?.timestamp ?? 0) * 1_000 > Date.parse(merchant.created_at)
  }, 'the chain has no later second')
  return merchant
}

/** A merchant with an order that was paid after its cancellation, one that lacks a part and one with a surplus; the newest first. */
async function openCases() {
  const merchant = await newMerchant()
  const order = (external_ref: string) =>
    call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, {
      brl_amount: '10.00',
      external_ref,
      description: 'Cesta de Natal',
    })
  const over = await order('OVER-1')
  await pay(world.chain, over, units(over.usdc_amount) + 5_000_000n)
  const short = await order('SHORT-1')
  await pay(world.chain, short, units(short.usdc_amount) - 1_250_000n)
  const gone = await order('GONE-1')
  await call(system.gatewayUrl, 'POST', `/api/v1/orders/${gone.id}/cancel`, merchant.api_key, {})
  await pay(world.chain, gone, 7_000_000n)
  await system.idle()
  return { merchant, over, short }
}
const titles = async (page: Page) => (await page.locator('.case-title strong').allTextContents()).join()
const titlesBecome = (page: Page, wanted: string[]) =>
  until(
    async () => (await titles(page)) === wanted.join(),
    async () => `the list is ${await titles(page)}`,
  )
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent')
const itemOf = (page: Page) => new URL(page.url()).searchParams.get('item')
const tooWide = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')

test.each([
  ['a desk', DESKTOP, true],
  ['a phone', PHONE, false],
] as const)('on %s the list is worked through by keyboard alone', async (_, viewport, isBeside) => {
  const { merchant, over } = await openCases()
  const { context, page, complaints } = await openVisit(browser, { viewport })
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/attention`)
  await titlesBecome(page, ['GONE-1', 'SHORT-1', 'OVER-1'])
  await page.locator('.rail .count').getByText('3').waitFor()
  expect({ faults: await seriousFaults(page), wide: await tooWide(page) }).toEqual({ faults: [], wide: 0 })

  // One row is reached from the field before the list; the others by the list's own keys.
  await page.getByLabel('Show', { exact: true }).focus()
  await page.keyboard.press('Tab')
  expect(await focused(page)).toMatch(/GONE-1.*came 7\.00.USDC.*Return surplus/)
  await page.keyboard.press('j')
  await page.keyboard.press('ArrowDown')
  expect(await focused(page)).toMatch(/OVER-1.*over by 5\.00.USDC.*Return surplus/)
  await page.keyboard.press('k')
  expect(await focused(page)).toMatch(/SHORT-1.*short by 1\.25.USDC.*Count as paid/)
  await page.keyboard.press('Enter')
  const entry = page.locator('.attention-entry')
  await entry.getByRole('link', { name: 'SHORT-1' }).waitFor()
  expect(await page.locator('.cases').isVisible()).toBe(isBeside)
  expect({ faults: await seriousFaults(page), wide: await tooWide(page) }).toEqual({ faults: [], wide: 0 })

  await page.keyboard.press('j')
  await entry.getByRole('link', { name: 'OVER-1' }).waitFor()
  expect(itemOf(page)).toBe(over.id)
  await entry.getByText('5.00 USDC are left over').waitFor()
  await entry.getByRole('button', { name: 'Return money' }).waitFor()
  expect({ faults: await seriousFaults(page), wide: await tooWide(page) }).toEqual({ faults: [], wide: 0 })
  // The address leads there, and 'back' to the list.
  await page.reload()
  await entry.getByRole('link', { name: 'OVER-1' }).waitFor()
  await page.keyboard.press('Escape')
  await entry.waitFor({ state: 'detached' })
  expect(await focused(page)).toMatch(/OVER-1/)
  await page.keyboard.press('k')
  await page.keyboard.press('Enter')
  await entry.getByRole('link', { name: 'SHORT-1' }).waitFor()
  await page.goBack()
  await entry.waitFor({ state: 'detached' })
  expect(await focused(page)).toMatch(/SHORT-1/)

  // A note is typed, letters of the keys included; the next case stands there then.
  await page.keyboard.press('Enter')
  await entry.getByLabel(/^Note/).focus()
  await page.keyboard.type('jhk: called them')
  await page.keyboard.press('Enter')
  await entry.getByRole('link', { name: 'OVER-1' }).waitFor()
  await titlesBecome(page, ['GONE-1', 'OVER-1'])
  await until(async () => /OVER-1/.test(await focused(page)), 'the next case has no focus')
  await page.keyboard.press('h')
  await entry.getByRole('link', { name: 'GONE-1' }).waitFor()
  await page.locator('.rail .count').getByText('1').waitFor()
  await page.keyboard.press('h')
  await page.getByText('Nothing needs attention').waitFor()
  expect(await page.locator('.rail .count').count()).toBe(0)

  await page.goto(`${system.gatewayUrl}/dashboard/attention?handled=true&reason=underpaid`)
  await titlesBecome(page, ['SHORT-1'])
  await page.locator('.case').press('Enter')
  await entry.getByText(/^Handled on .* by .*\. “jhk: called them”$/).waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('the list is filtered by kind and searched by number, description, amount and hash, and a case that left it is named', async () => {
  const { merchant, short } = await openCases()
  await pay(world.chain, { ...short, memo: '5e'.repeat(32), id: 'none' }, 8_000_000n)
  await system.idle()
  const { data } = await call<List<AttentionItemBody>>(system.gatewayUrl, 'GET', '/api/v1/attention', merchant.api_key)
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/attention`)
  await page.getByLabel('Kind').selectOption('Received too much')
  await titlesBecome(page, ['OVER-1'])
  await page.getByLabel('Kind').selectOption('Part missing')
  await titlesBecome(page, ['SHORT-1'])
  expect(new URL(page.url()).search).toBe('?reason=underpaid')
  await page.getByLabel('Kind').selectOption('No order waits for it')
  await titlesBecome(page, ['No order'])
  await page.getByLabel('Kind').selectOption('All')
  for (const [text, wanted] of [
    ['short-1', ['SHORT-1']],
    ['cesta', ['GONE-1', 'SHORT-1', 'OVER-1']],
    ['8,00', ['No order']],
    [data.find(({ payment }) => payment)?.payment?.tx_hash ?? '', ['No order']],
  ] as const) {
    await page.getByLabel('Search').fill(text)
    await titlesBecome(page, [...wanted])
  }
  await page.getByLabel('Search').fill('nonsense')
  await page.getByText('Nothing matches these filters').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await until(async () => (await page.locator('.case').count()) === 4, 'the list is still searched')

  const item = data.find(({ order }) => order?.id === short.id)
  await call(system.gatewayUrl, 'POST', `/api/v1/attention/${short.id}/handle`, merchant.api_key, { facts: item?.facts })
  await page.goto(`${system.gatewayUrl}/dashboard/attention?item=${short.id}`)
  await page.getByText('This case is not in this list').waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('a payment that named no order is counted for one that is found by its number', async () => {
  const merchant = await newMerchant()
  const ordered = (external_ref: string) =>
    call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '10.00', external_ref })
  const [order] = [await ordered('THEIRS-1'), await ordered('OTHER-1')]
  // A block has whole seconds, and one of the second in which the address was named is before that.
  const named = Date.now()
  await until(async () => Date.now() - named > 1_000, 'the clock stands still')
  await pay(world.chain, { ...order, memo: 'ab'.repeat(32) })
  const items = () => call<List<AttentionItemBody>>(system.gatewayUrl, 'GET', '/api/v1/attention', merchant.api_key)
  await until(async () => (await items()).data.length > 0, 'the payment is not in the list', 30_000)
  const { context, page, complaints } = await openVisit(browser, { viewport: PHONE })
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/attention`)
  await page.locator('.case').click()
  await page.getByRole('button', { name: 'Count for an order' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Search by number, amount, address or link').fill('#theirs-1')
  await dialog.getByRole('option', { name: /^OTHER-1/ }).waitFor({ state: 'detached' })
  expect([await dialog.getByRole('option').allTextContents(), await seriousFaults(page), await tooWide(page)]).toEqual([
    ['Choose an order', expect.stringMatching(/^THEIRS-1 · R\$\s10\.00 · Waiting$/)],
    [],
    0,
  ])
  await dialog.getByLabel('Why, for your own records').fill('The memo was typed wrong')
  await dialog.getByRole('button', { name: 'Count for an order' }).click()
  // None is chosen by its place in a list that moves.
  expect(await page.getByText('Nothing needs attention').isVisible()).toBe(false)
  await dialog.locator('select[name=order_id]').selectOption(order.id)
  await dialog.getByRole('button', { name: 'Count for an order' }).click()
  await page.getByText('Nothing needs attention').waitFor()
  const paid = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
  expect([paid.status, complaints]).toEqual(['paid', []])
  await context.close()
})

test.each([
  ['a desk', DESKTOP],
  ['a phone', PHONE],
] as const)('on %s what came in another coin is recovered to the address that is confirmed', async (_, viewport) => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const ask = <T>(path: string, body: object) => call<T>(system.gatewayUrl, 'POST', `/api/v1${path}`, merchant.api_key, body)
  const order = await ask<OrderBody>('/orders', { brl_amount: '10.00', external_ref: 'COIN-1' })
  const { hash } = await mined(world.chain.wallet(6).sendTransaction({ to: order.payment.deposit_address, value: 1_000_000n }))
  await system.idle()
  await ask(`/orders/${order.id}/explain`, { tx_hash: hash })
  const { context, page, complaints } = await openVisit(browser, { viewport })
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/attention`)
  await page.getByRole('link', { name: /COIN-1/ }).click()
  const held = () => world.chain.provider.getBalance(order.payment.merchant_address)
  const before = await held()
  await page.getByRole('button', { name: 'Recover', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('.whole').getByText(order.payment.merchant_address).waitFor()
  expect({ faults: await seriousFaults(page), wide: await tooWide(page) }).toEqual({ faults: [], wide: 0 })
  await dialog.getByRole('button', { name: 'Recover to this address' }).click()
  await until(async () => (await held()) - before === 1_000_000n, 'it was not recovered')
  expect(complaints).toEqual([])
  await context.close()
})
