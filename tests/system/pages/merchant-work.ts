import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { DeliveryBody, EntryBody, List, OrderBody, SubscriptionBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { deployContractWallet } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import type { BrowserContext, Locator, Page, Request } from 'playwright-core'
import { call, createMerchant, MERCHANT, merchant, PAYER, pay, system, units, world } from '../../world'
import { openVisit, PHONE, seriousFaults } from './browser'
import { logIn } from './every-page'
import { browser, runPages } from './run-pages'

// A merchant's ordinary days, in one browser.

let context: BrowserContext
let page: Page
let complaints: string[]
runPages()
beforeAll(async () => {
  ;({ context, page, complaints } = await openVisit(browser))
  await logIn(page, system.gatewayUrl, merchant.email)
})
afterEach(() => expect(complaints).toEqual([]))

const ask = <T>(method: string, path: string, body?: object) => call<T>(system.gatewayUrl, method, path, merchant.api_key, body)
const newOrder = (external_ref: string) => ask<OrderBody>('POST', '/api/v1/orders', { brl_amount: '10.00', external_ref })
const go = (name: string) => page.getByRole('navigation').getByRole('link', { name }).click()
const button = (name: string) => page.getByRole('button', { name, exact: true })
const confirm = (verb: string) => page.getByRole('dialog').getByRole('button', { name: verb }).click()
const badge = (text: string) => page.locator('.badges').getByText(text, { exact: true }).waitFor()
const rows = () => page.locator('tbody .row-link').allTextContents()
const rowsBecome = (wanted: string[]) =>
  until(
    async () => (await rows()).join() === wanted.join(),
    async () => `the rows are ${await rows()}`,
  )
const names = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) => `PED-${String(from - index).padStart(2, '0')}`)

test('a list goes to older and newer rows and back, keeps its filters in the address, and finds by reference, memo, hash and id', async () => {
  for (const name of names(23, 1).reverse()) await newOrder(name)
  const [paid] = (await ask<List<OrderBody>>('GET', '/api/v1/orders?limit=1')).data
  if (!paid) throw new Error('There is no order.')
  const { hash } = await pay(world.chain, paid)
  await system.idle()
  await go('Orders')
  await rowsBecome(names(23, 4))
  await button('Older').click()
  await rowsBecome(names(3, 1))
  await button('Newer').click()
  await rowsBecome(names(23, 4))
  await page.goBack()
  await rowsBecome(names(3, 1))

  await page.getByLabel('State').selectOption('paid')
  await rowsBecome(['PED-23'])
  expect(new URL(page.url()).search).toBe('?status=paid')
  await page.reload()
  await rowsBecome(['PED-23'])
  await page.getByLabel('Exception').selectOption('overpaid')
  await page.getByText('Nothing matches these filters').waitFor()
  await page.getByLabel('Exception').selectOption('')
  for (const text of [hash, paid.memo, 'ped-23']) {
    await page.getByLabel('Search').fill(text)
    await page.keyboard.press('Enter')
    await until(() => new URL(page.url()).searchParams.get('q') === text, 'the search is not in the address')
    await rowsBecome(['PED-23'])
  }
  await page.getByLabel('Search').fill('PED-99')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing matches these filters').waitFor()
  await button('Clear filters').click()
  await rowsBecome(names(23, 4))
  await page.getByLabel('Search').fill(paid.id)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'PED-23' }).waitFor()
})

test('orders are found by part of their text in any case, by amount and by day of creation or payment, all of it in the address', async () => {
  const basket = { brl_amount: '1234.50', external_ref: 'CESTA-1', description: 'Cesta de PÃES' }
  await ask<OrderBody>('POST', '/api/v1/orders', basket)
  await go('Orders')
  const search = async (label: string, text: string) => {
    await page.getByLabel(label).fill(text)
    await page.keyboard.press('Enter')
  }
  await search('Search', 'cesta de pães')
  await rowsBecome(['CESTA-1'])
  await search('Search', '')
  await search('In reais', '1,234.5')
  await rowsBecome(['CESTA-1'])
  expect(new URL(page.url()).search).toBe('?amount=1234.50')
  await search('In reais', '1.234.5')
  await page.getByText('Write an amount of reais').waitFor()
  expect(await page.getByLabel('In reais').getAttribute('aria-invalid')).toBe('true')
  await search('In reais', '')
  await rowsBecome(['CESTA-1', ...names(23, 5)])

  const day = (later: number) => new Intl.DateTimeFormat('en-CA').format(Date.now() + later * 86_400_000)
  await page.getByLabel('From').fill(day(-1))
  await page.getByLabel('To').fill(day(1))
  await rowsBecome(['CESTA-1', ...names(23, 5)])
  await page.getByLabel('Date of').selectOption('paid')
  await rowsBecome(['PED-23'])
  expect(new URL(page.url()).search).toBe(`?from=${day(-1)}&to=${day(1)}&by=paid`)
  await page.reload()
  await rowsBecome(['PED-23'])
  await page.getByLabel('State').selectOption('pending')
  await rowsBecome(['CESTA-1', ...names(22, 4)])
  expect(new URL(page.url()).searchParams.has('by')).toBe(false)
  await page.getByLabel('To').fill(day(-1))
  await page.getByText('Nothing matches these filters').waitFor()
})

test('what a list shows is downloaded as a file, all pages of it', async () => {
  await ask<OrderBody>('POST', '/api/v1/orders', { brl_amount: '1.00', external_ref: '=1+1', description: 'a "b", c' })
  await go('Orders')
  const [file] = await Promise.all([page.waitForEvent('download'), button('Download CSV').click()])
  const lines = readFileSync(await file.path(), 'utf8')
    .trimEnd()
    .split('\r\n')
  expect([file.suggestedFilename(), lines.length]).toEqual(['orders.csv', 1 + 23 + 2])
  expect(lines[1]).toContain(`,'=1+1,"a ""b"", c",`)
  await page.getByLabel('State').selectOption('paid')
  await rowsBecome(['PED-23'])
  const [paidFile] = await Promise.all([page.waitForEvent('download'), button('Download CSV').click()])
  const [head = '', row = '', ...more] = readFileSync(await paidFile.path(), 'utf8')
    .slice(1)
    .trimEnd()
    .split('\r\n')
  const cells = Object.fromEntries(head.split(',').map((name, index) => [name, row.split(',')[index]]))
  const { data } = await ask<List<OrderBody>>('GET', '/api/v1/orders?status=paid')
  expect(cells).toMatchObject({
    id: data[0]?.id,
    gross: data[0]?.usdc_amount,
    share: data[0]?.expected,
    platform_fee: data[0]?.platform_fee,
  })
  expect(cells).toMatchObject({ tx_hashes: data[0]?.tx_hash, payers: PAYER.address, rate: data[0]?.quote.rate })
  expect(more).toEqual([])

  for (const [name, list, columns] of [
    ['Subscriptions', 'subscriptions', 'id,created_at,status,'],
    ['Webhooks', 'deliveries', 'id,created_at,event_type,'],
    ['Attention', 'attention', 'id,at,reasons,'],
  ] as const) {
    await go(name)
    const [other] = await Promise.all([page.waitForEvent('download'), button('Download CSV').click()])
    expect([name, other.suggestedFilename()]).toEqual([name, `${list}.csv`])
    expect(readFileSync(await other.path(), 'utf8').slice(1)).toMatch(new RegExp(`^${columns}`))
  }
})

test('what does not simply settle is one list, with the sums and the sender, on the overview and on a page', async () => {
  const over = await newOrder('OVER-1')
  const gross = units(over.usdc_amount) + 5_000_000n
  await pay(world.chain, over, gross)
  await pay(world.chain, { ...over, memo: '5e'.repeat(32), id: 'none' }, 7_000_000n)
  const short = await newOrder('SHORT-1')
  await pay(world.chain, short, units(short.usdc_amount) - 1_250_000n)
  await system.idle()
  await go('Overview')
  await page.getByRole('heading', { name: 'Needs attention' }).waitFor()
  await page.getByRole('link', { name: 'See all that needs attention' }).click()
  const cases = page.locator('.case')
  const [unmatched, surplus] = [cases.filter({ hasText: 'No order waits for it' }), cases.filter({ hasText: 'OVER-1' })]
  const entry = page.locator('.attention-entry')
  await unmatched.click()
  await entry.getByText('no order has this memo').waitFor()
  expect(await factsOf(entry)).toEqual(['7.00 USDC', '0.00 USDC', '7.00 USDC', '− 0.07 USDC', '6.93 USDC'])
  await surplus.click()
  await entry.getByText('More arrived than the order asks for').waitFor()
  // Taken and left over add up to the received amount, and so do the fee and the share.
  const [came = 0, taken = 0, left = 0, fee = 0, share = 0] = (await factsOf(entry)).map(text => Number(text.replace(/[^\d.]/g, '')))
  expect(left).toBe(5)
  for (const sum of [taken + left, fee + share]) expect(sum).toBeCloseTo(came, 6)
  expect(await entry.locator('.payments .mono').first().getAttribute('title')).toBe(PAYER.address)
  expect(await cases.count()).toBe(3)
  expect(await seriousFaults(page)).toEqual([])
  await unmatched.click()
  await entry.getByRole('button', { name: 'Mark as handled' }).click()
  await unmatched.waitFor({ state: 'detached' })
  await page.getByLabel('Show', { exact: true }).selectOption('Handled')
  await unmatched.click()
  await entry.getByText(/^Handled on .* by ./).waitFor()
  await entry.getByRole('button', { name: 'Show it again' }).click()
  await page.getByText('Nothing matches these filters').waitFor()
  await page.getByLabel('Show', { exact: true }).selectOption('To handle')
  await unmatched.waitFor()
  await surplus.click()
  await entry.getByRole('link', { name: 'OVER-1' }).click()
  await page.getByRole('heading', { name: 'OVER-1' }).waitFor()
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${short.id}`)
  await page.getByText('Only a part arrived. The order’s link shows the payer what is missing.').waitFor()
  const payments = page.locator('.card', { has: page.getByRole('heading', { name: 'Payments' }) })
  expect((await factsOf(payments)).at(-1)).toBe('1.25 USDC')
})

test('what came too little is counted as paid with a reason, and stands in the order, the list and the month', async () => {
  await go('Overview')
  await page.getByRole('link', { name: 'See all that needs attention' }).click()
  const short = page.locator('.case').filter({ hasText: 'SHORT-1' })
  await short.click()
  await page.locator('.attention-entry').getByRole('button', { name: 'Count as paid' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('You give away 1.25 USDC').waitFor()
  await confirm('Count as paid')
  await dialog.locator('[aria-invalid=true]').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await dialog.getByLabel('Why, for your own records').fill('The exchange kept it')
  await confirm('Count as paid')
  await short.waitFor({ state: 'detached' })
  const { data } = await ask<List<OrderBody>>('GET', '/api/v1/orders?external_ref=SHORT-1')
  expect(data[0]).toMatchObject({ status: 'paid', accepted: { reason: 'The exchange kept it', given_away: '1.250000' } })
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${data[0]?.id}`)
  await page.locator('.timeline').getByText('“The exchange kept it” 1.25 USDC given away.').waitFor()
  await page.goto(`${system.gatewayUrl}/dashboard/month`)
  await page.getByRole('row', { name: 'Given away 0.00 1.25' }).waitFor()
  await page.getByRole('row', { name: /^Given away no\. \d/ }).waitFor()
  await page.getByText(/This leaves out [\d.,]+.USDC that came for no order/).waitFor()
})

test('the page of an order lives by its stream: at rest it asks for little, and a payment and its webhook show by themselves', async () => {
  const order = await newOrder('LIVE-1')
  const asked: string[] = []
  const note = (request: Request) => asked.push(request.url())
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
  await page.getByRole('heading', { name: 'LIVE-1' }).waitFor()
  await setTimeout(2_000)
  page.on('request', note)
  await setTimeout(10_000)
  // One look at the most: the order, its events and their deliveries.
  expect(asked.length).toBeLessThanOrEqual(3)
  page.off('request', note)
  await pay(world.chain, order)
  await badge('Paid')
  await page.locator('.timeline').getByText('order.paid').waitFor()
})

test('plain transfers stand beside the month`s orders as possible sales, and what has no value of its time is named', async () => {
  const duty = page.locator('.card', { has: page.getByRole('heading', { name: 'Receita Federal' }) })
  await page.goto(`${system.gatewayUrl}/dashboard/month`)
  await duty.getByText('% of R$ 35,000.00').waitFor()
  expect(await duty.locator('dt').count()).toBe(0)
  const before = await factsOf(duty)
  await mined(world.chain.mintUsdc(PAYER.address, 10_000_000_000n))
  await mined(world.chain.transferUsdc(world.chain.wallet(PAYER.privateKey), MERCHANT.address, 10_000_000_000n))
  const direct = async () => (await ask<List<EntryBody>>('GET', '/api/v1/entries?kind=direct')).data
  await until(async () => (await direct()).length > 0, 'the transfer is not booked', 30_000)
  const [entry] = await direct()
  expect([before, entry?.market_brl_amount]).toEqual([[], '54200.00'])
  await page.reload()
  await duty.getByText('With the plain transfers the month would be above R$ 35,000.00. If they were for sales').waitFor()
  const [ofOrders = '', possible = '', together = ''] = await factsOf(duty)
  expect(possible).toBe('R$ 54,200.00 possible')
  const centavos = (text: string) => Number(text.replace(/[^\d]/g, ''))
  expect(centavos(together)).toBe(centavos(ofOrders) + centavos(possible))
  expect(await seriousFaults(page)).toEqual([])

  const portuguese = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await logIn(portuguese.page, system.gatewayUrl, merchant.email)
  // As an installation shows it that kept no rate then.
  await portuguese.page.route('**/entries?*kind=direct*', async route => {
    const list: List<EntryBody> = await (await route.fetch()).json()
    await route.fulfill({
      json: { ...list, data: list.data.map(each => ({ ...each, market_rate: null, market_brl_amount: null, ptax_rate: null })) },
    })
  })
  await portuguese.page.goto(`${system.gatewayUrl}/dashboard/month`)
  await portuguese.page.getByText(/1 transferência direta, de 10\.000,00.USDC, não tem cotação do momento nem PTAX/).waitFor()
  expect(await portuguese.page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  expect({ complaints: portuguese.complaints, faults: await seriousFaults(portuguese.page) }).toEqual({ complaints: [], faults: [] })
  await portuguese.context.close()
})

test('a file of the ledger is made while the page shows its progress, and is downloaded, also after a reload', async () => {
  await page.goto(`${system.gatewayUrl}/dashboard/month`)
  const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Files for your accountant' }) })
  await card.getByLabel('Format').selectOption('ofx')
  await card.getByLabel('Period').selectOption('year')
  await card.getByRole('button', { name: 'Prepare file' }).click()
  const row = card.getByRole('listitem').filter({ hasText: `OFX 1/1/${new Date().getFullYear()} – 12/31/` })
  await row.getByRole('button', { name: 'Download' }).waitFor()
  await page.reload()
  const [file] = await Promise.all([page.waitForEvent('download'), row.getByRole('button', { name: 'Download' }).click()])
  expect(file.suggestedFilename()).toBe('entries.ofx')
  expect(readFileSync(await file.path(), 'utf8')).toMatch(/^OFXHEADER:100.*<STMTTRN>.*<\/OFX>\r\n$/s)
  // As it looks while a million rows are written.
  const running = { status: 'running', rows: 250_000, rows_total: 1_000_000, file_url: null, size: null, ready_at: null }
  await page.route('**/merchants/me/exports', async route => {
    const answer = await route.fetch()
    const list: List<object> = await answer.json()
    await route.fulfill({ json: { ...list, data: list.data.map(each => ({ ...each, ...running })) } })
  })
  await page.reload()
  await card.getByText('250,000 of 1,000,000 movements').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await page.unrouteAll({ behavior: 'wait' })
})

const factsOf = async (entry: Locator) => (await entry.locator('dd').allTextContents()).map(text => text.replaceAll('\u00a0', ' '))

test('a subscription is made and charged by hand; one by the calendar is paid, refuses a second charge with a reason, and is cancelled', async () => {
  await go('Subscriptions')
  await button('New subscription').first().click()
  await page.getByLabel('Amount').fill('49,90')
  await page.getByLabel('Repeats').selectOption('')
  await page.getByLabel('Reference', { exact: true }).fill('CLUBE-1')
  await button('Create subscription of R$ 49.90').click()
  await page.getByRole('heading', { name: 'CLUBE-1' }).waitFor()
  await page.getByText('No calendar').waitFor()
  expect(await page.getByRole('link', { name: 'Open the payer’s page' }).getAttribute('href')).toContain('/pay/subscription/')
  await button('Charge now').click()
  await page.getByRole('link', { name: 'The period’s order is open' }).waitFor()
  await page.locator('.timeline').getByText('Period 1').waitFor()
  expect(await button('End with the period').count()).toBe(0)
  const byHand = new URL(page.url()).pathname.split('/').at(-1)
  const [charged] = (await ask<List<OrderBody>>('GET', `/api/v1/orders?subscription_id=${byHand}`)).data
  if (!charged) throw new Error('The period has no order.')
  await pay(world.chain, charged, units(charged.usdc_amount) / 2n)
  await button('Count as paid').click()
  await confirm('Count as paid')
  await page.locator('.timeline').getByText('Paid', { exact: true }).waitFor()
  expect(await button('Count as paid').count()).toBe(0)
  await page.locator('.timeline').getByRole('link').click()
  await page.getByText('Its period was counted as paid').waitFor()

  await go('Subscriptions')
  await button('New subscription').first().click()
  await page.getByLabel('Amount').fill('20')
  await page.getByLabel('Free periods').fill('1')
  await button('Create subscription of R$ 20.00').click()
  await page.getByText('Free until').waitFor()

  const monthly = { brl_amount: '80.00', interval: 'month', max_periods: 12, external_ref: 'CLUBE-2' }
  const { id } = await ask<SubscriptionBody>('POST', '/api/v1/subscriptions', monthly)
  await system.idle()
  const [first] = (await ask<List<OrderBody>>('GET', `/api/v1/orders?subscription_id=${id}`)).data
  if (!first) throw new Error('The first period has no order.')
  await go('Subscriptions')
  await page.getByRole('link', { name: 'CLUBE-2' }).click()
  await page.locator('.calendar li').nth(5).waitFor()
  await pay(world.chain, first)
  await page.locator('.timeline').getByText('Paid', { exact: true }).waitFor()
  await page.getByText('1 of 12').waitFor()
  await button('Charge now').click()
  const refusal = page.getByRole('alert')
  await refusal.getByText('The current period is already charged.').waitFor()
  await refusal.getByText(/^Code for support: [\w-]+$/).waitFor()
  await button('Pause').click()
  await page.getByText('Paused since').waitFor()
  await button('Resume').click()
  await page.getByText('The next order is issued on').waitFor()
  await button('End with the period').click()
  await page.getByText('It is cancelled on').waitFor()
  await button('Go on after the period').click()
  await page.getByText('It is cancelled on').waitFor({ state: 'detached' })
  await button('Change').click()
  await page.getByLabel('Amount').fill('95,50')
  await page.getByLabel('Number of charges').fill('6')
  await page.getByLabel('When periods stay unpaid').selectOption('cancel')
  await button('Save').click()
  await page.getByText('1 of 6').waitFor()
  expect(await ask<SubscriptionBody>('GET', `/api/v1/subscriptions/${id}`)).toMatchObject({
    ...{ brl_amount: '95.50', max_periods: 6, when_unpaid: 'cancel', external_ref: 'CLUBE-2', paused_at: null, cancel_at: null },
  })
  await button('Cancel subscription').click()
  await confirm('Cancel subscription')
  await badge('Cancelled')
  for (const gone of ['Pause', 'Change', 'End with the period']) expect(await button(gone).count()).toBe(0)
  expect(await button('Charge now').count()).toBe(0)
})

test('settings: a name is saved, an internal webhook URL is warned of, a key and a secret are replaced', async () => {
  await go('Settings')
  await page.getByLabel('Store name').fill('Padaria Nova')
  await page.locator('input[name=webhook_url]').fill('http://10.0.0.7/hook')
  await button('Save').click()
  await page.getByText('Saved').waitFor()
  await page.getByText('The webhook URL is an internal address').waitFor()
  await page.locator('.store').getByText('Padaria Nova').waitFor()
  await page.locator('input[name=webhook_url]').fill(world.receiverUrl)
  await button('Save').click()
  await page.getByText('The webhook URL is an internal address').waitFor({ state: 'detached' })

  expect(await page.getByText('This address is a contract').count()).toBe(0)
  const wallet = await deployContractWallet(world.chain, MERCHANT.address)
  const other = await createMerchant(world, system.gatewayUrl, null, wallet)
  const visit = await openVisit(browser)
  await logIn(visit.page, system.gatewayUrl, other.email)
  await visit.page.goto(`${system.gatewayUrl}/dashboard/settings`)
  await visit.page.getByText('This address is a contract').waitFor()
  await visit.context.close()

  await button('Rotate the key').click()
  await confirm('Rotate the key')
  const key = (await page.getByText(/^sk_live_[0-9a-f]{64}$/).textContent()) ?? ''
  await expect(ask('GET', '/api/v1/orders')).rejects.toThrow('invalid_api_key')
  merchant.api_key = key
  expect((await ask<List<OrderBody>>('GET', '/api/v1/orders?limit=1')).data).toHaveLength(1)
  await go('API')
  await page.locator('pre').getByText(key).first().waitFor()

  await go('Settings')
  await button('Make a new secret').click()
  await page.getByText('The new secret takes effect').waitFor()
  const secret = (await page.getByText(/^whsec_[0-9a-f]{64}$/).textContent()) ?? ''
  await button('Activate the new secret').click()
  await confirm('Activate the new secret')
  await until(async () => (await page.getByText('The new secret takes effect').count()) === 0, 'the secret stays pending')
  await button('Show').click()
  await page.getByText(secret, { exact: true }).waitFor()
  world.receiver.trust(secret)
})

test('tokens minted to a deposit address, as a bridge brings them, are shown as of an unknown payer', async () => {
  const order = await newOrder('PONTE-1')
  await world.chain.mintUsdc(order.payment.deposit_address ?? '', units(order.usdc_amount))
  await system.idle()
  await page.goto(`${system.gatewayUrl}/dashboard/orders/${order.id}`)
  await page.getByText('Unknown: newly issued USDC').waitFor()
  await page.goto(`${system.gatewayUrl}/pay/${order.id}`)
  await page.getByText('sender unknown').waitFor()
  await page.goto(`${system.gatewayUrl}/dashboard/settings`)
})

test('a test event arrives, signed with the new secret; a time range is sent again, and the page names how much', async () => {
  const known = await deliveries()
  await go('API')
  await button('Send a test event').click()
  await page.getByRole('link', { name: /The event is on its way/ }).click()
  await until(async () => (await deliveries()).length === known.length + 1, 'no test event is delivered')
  await page.getByLabel('Event').selectOption('order.cancelled')
  await button('Send a period again').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await dialog.getByText('0 events are on their way').waitFor()
  await dialog.getByLabel('Which events').selectOption('all')
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await dialog.getByText(`${known.length + 1} events are on their way`).waitFor()
  await until(async () => (await deliveries()).length === 2 * (known.length + 1), 'the events are not delivered again')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
})

const deliveries = async () => {
  await system.idle()
  const list = await call<List<DeliveryBody>>(
    system.gatewayUrl,
    'GET',
    '/api/v1/merchants/me/deliveries?status=delivered&limit=100',
    merchant.token,
  )
  return list.data
}

test('a session is renewed without a word, is good in a second tab, is out of reach of scripts, and ends in every tab', async () => {
  const wrong = { status: 401, json: { code: 'invalid_jwt', detail: 'expired' } }
  const renewed = page.waitForResponse(response => response.url().endsWith('/dashboard/session'))
  await page.route('**/api/v1/merchants/me/overview', route => route.fulfill(wrong), { times: 1 })
  await go('Overview')
  expect((await renewed).status()).toBe(200)
  await page.getByText('Webhooks now').waitFor()

  const second = await context.newPage()
  await second.goto(`${system.gatewayUrl}/dashboard/settings`)
  await second.getByLabel('Store name').waitFor()
  const readable = await page.evaluate<string>('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])')
  expect(readable).toBe('["",{},{}]')
  const [cookie] = await context.cookies(`${system.gatewayUrl}/dashboard/session`)
  expect(cookie).toMatchObject({ name: 'ponte_refresh', httpOnly: true, sameSite: 'Strict', path: '/dashboard/session', expires: -1 })

  await button('Log out').click()
  for (const tab of [page, second]) await tab.getByRole('heading', { name: 'Log in' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  expect(await context.cookies(`${system.gatewayUrl}/dashboard/session`)).toEqual([])
})

test('the checkout wears what the merchant chose, readable in light and dark, and leads back to the shop that the invoice names', async () => {
  const visit = await openVisit(browser)
  await logIn(visit.page, system.gatewayUrl, merchant.email)
  await visit.page.goto(`${system.gatewayUrl}/dashboard/settings`)
  const card = visit.page.locator('section', { has: visit.page.getByRole('heading', { name: 'Your checkout' }) })
  await card.getByLabel('Colour').fill('yellow')
  await card.getByRole('button', { name: 'Save the look' }).click()
  await card.getByText('Write # and six hex digits').waitFor()
  await card.getByLabel('Colour').fill('#ffd54a')
  await card.getByLabel('Email for payers').fill('ola@padaria.example')
  await card.getByLabel('Your terms of sale').fill('https://padaria.example/terms')
  const picture = readFileSync(join(__dirname, '../../../docs/checkout.png'))
  await card.locator('input[type=file]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: picture })
  await card.getByRole('button', { name: 'Save the look' }).click()
  await card.getByRole('img', { name: 'Logo' }).waitFor()
  expect(await seriousFaults(visit.page)).toEqual([])

  await visit.page.goto(`${system.gatewayUrl}/dashboard/orders?new=1`)
  const form = visit.page.getByRole('dialog')
  await form.getByLabel('Amount').fill('12.00')
  await form.getByLabel('Back to the shop without paying').fill('http://padaria.example')
  await form.getByRole('button', { name: /^Create/ }).click()
  await form.getByText('Write an address that begins with https://').waitFor()
  await form.getByLabel('Back to the shop without paying').fill('https://padaria.example/cart')
  await form.getByRole('button', { name: /^Create/ }).click()
  await visit.page.waitForURL(/orders\/[0-9a-f-]{36}$/)
  const id = visit.page.url().split('/').at(-1)
  for (const theme of ['light', 'dark'] as const) {
    await visit.page.emulateMedia({ colorScheme: theme })
    await visit.page.goto(`${system.gatewayUrl}/pay/${id}`)
    await visit.page.locator('img.merchant-logo').waitFor()
    await visit.page.getByRole('link', { name: /^Ask / }).waitFor()
    expect(await visit.page.locator('img.merchant-logo').evaluate(img => Number(Reflect.get(img, 'naturalWidth')))).toBeGreaterThan(0)
    expect({ theme, faults: await seriousFaults(visit.page) }).toEqual({ theme, faults: [] })
  }
  await visit.page.getByText('padaria.example', { exact: false }).first().waitFor()
  expect(visit.complaints).toEqual([])
  await visit.context.close()
})
