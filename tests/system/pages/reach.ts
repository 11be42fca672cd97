import type { OrderBody, SummaryBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import type { Page } from 'playwright-core'
import { call, merchant, pay, system, world } from '../../world'
import { openVisit, PHONE, seriousFaults, type Visit } from './browser'
import { heading, logIn, type Stop, visit } from './every-page'
import { browser, runPages } from './run-pages'

// Small screens, long lists, lost connections and addresses that lead nowhere.

runPages()

const newOrder = (body: object = {}) =>
  call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '10.00', ...body })
async function open(path: string, options: Visit = {}) {
  const visit = await openVisit(browser, options)
  await logIn(visit.page, system.gatewayUrl, merchant.email)
  await visit.page.goto(`${system.gatewayUrl}/dashboard${path}`)
  return visit
}
const tooWide = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')

test('on a phone a reference keeps its width beside two badges, and an order without one is headed by its description', async () => {
  const twice = await newOrder({ external_ref: 'PEDIDO-2026-0001' })
  await pay(world.chain, twice)
  await system.idle()
  await pay(world.chain, twice)
  await system.idle()
  const untitled = await newOrder({ description: 'Cesta de Natal' })
  const { context, page, complaints } = await open('/orders', { viewport: PHONE, language: 'pt-BR' })
  const reference = page.getByRole('link', { name: 'PEDIDO-2026-0001' })
  await page.locator('.badge').getByText('Paga mais de uma vez').waitFor()
  const { height = 0 } = (await reference.boundingBox()) ?? {}
  expect(height).toBeLessThan(30)
  expect(await tooWide(page)).toBe(0)
  await page.getByRole('link', { name: 'Cesta de Natal' }).click()
  await page.getByRole('heading', { level: 1, name: 'Cesta de Natal' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/dashboard/orders/${untitled.id}`)
  expect(complaints).toEqual([])
  await context.close()
})

test('the reference of the API fits a phone, and the keyboard reaches what scrolls', async () => {
  const { context, page } = await openVisit(browser, { viewport: PHONE })
  const guides = ['/quickstart', '/webhooks', '/testing', '/payments', '/exceptions', '/refunds', '/production']
  for (const name of ['', ...guides, '/errors', '/sdk', '/changes']) {
    const path = `/docs${name}`
    await page.goto(`${system.gatewayUrl}${path}`)
    expect({ path, tooWide: await tooWide(page), faults: await seriousFaults(page) }).toEqual({ path, tooWide: 0, faults: [] })
  }
  await context.close()
})

test.each([
  ['a desk', { viewport: { width: 1280, height: 860 } }],
  ['a phone', { viewport: PHONE }],
] as const)('the labels of the chart are whole and no larger than the text around it, on %s', async (_, view) => {
  const large = await newOrder({ brl_amount: '98000.00' })
  await pay(world.chain, large)
  await system.idle()
  const { context, page } = await open('', { ...view, language: 'pt-BR' })
  await page.locator('.chart svg text').first().waitFor()
  for (const days of [7, 30]) {
    await page.getByText(`${days} dias`).click()
    await until(async () => (await page.locator('.chart rect.field').count()) === days, `the chart has not ${days} days`)
    const labels = await page.evaluate<{ text: string; size: number; cut: boolean }[]>(LABELS)
    expect(labels.length).toBeGreaterThan(4)
    expect(labels.filter(({ cut, size }) => cut || size > 15 || size < 11)).toEqual([])
  }
  await context.close()
})

// Runs in the page: a drawing that is scaled scales its text as well.
const LABELS = `(drawing => {
  const frame = drawing.getBoundingClientRect()
  return [...drawing.querySelectorAll('text')].map(label => {
    const box = label.getBoundingClientRect()
    const size = (parseFloat(getComputedStyle(label).fontSize) * frame.width) / drawing.viewBox.baseVal.width
    const isOver = other => {
      const { left, right, top, bottom } = other.getBoundingClientRect()
      return other !== label && left < box.right && box.left < right && top < box.bottom && box.top < bottom
    }
    const isOutside = box.left < frame.left - 0.5 || box.right > frame.right + 0.5 || box.bottom > frame.bottom + 0.5
    return { text: label.textContent, size, cut: isOutside || [...drawing.querySelectorAll('text')].some(isOver) }
  })
})(document.querySelector('.chart svg'))`

test('older rows are shown from their first one, with focus there', async () => {
  for (let count = 0; count < 21; count += 1) await newOrder({ external_ref: `PED-${count}` })
  const { context, page } = await open('/orders', { viewport: { width: 1280, height: 600 } })
  await page.getByRole('button', { name: 'Older' }).click()
  await page.getByRole('link', { name: 'PED-0', exact: true }).waitFor()
  await until(
    async () => (await page.locator('tbody tr').first().isVisible()) && (await firstRowTop(page)) >= 0,
    'the first row is out of sight',
  )
  expect(await firstRowTop(page)).toBeLessThan(600)
  expect(await page.evaluate('document.activeElement.tagName')).not.toBe('BODY')
  await context.close()
})

const firstRowTop = (page: Page) => page.evaluate<number>("document.querySelector('tbody tr').getBoundingClientRect().top")

test('without a connection the dashboard shows it at once, tries again by itself, and a list that cannot go on gives the reason', async () => {
  const { context, page } = await open('/orders')
  await page.locator('tbody tr').first().waitFor()
  await context.setOffline(true)
  await page.getByText('No connection').waitFor()
  await page.getByRole('button', { name: 'Older' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Subscriptions' }).click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByText('Loading…').count()).toBe(0)
  await context.setOffline(false)
  await page.getByText('No subscriptions yet').waitFor()
  expect(await page.getByText('No connection').count()).toBe(0)
  await context.close()
})

test('a network that brings no confirmations for minutes is named, with what happened and what to do', async () => {
  const order = await newOrder()
  const { context, page, complaints } = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await page.clock.install()
  const override = { status: 'confirming', confirmations: { seen: 1, required: 3 } } as const
  await visit(page, system.gatewayUrl, { name: 'frozen', path: `/pay/${order.id}`, override, ready: heading })
  await page.getByText('1 de 3 confirmações').waitFor()
  await page.clock.fastForward('03:05')
  await page.getByRole('heading', { name: 'A rede está parada' }).waitFor()
  await page.getByText('Não pague de novo').waitFor()
  expect({ complaints, faults: await seriousFaults(page) }).toEqual({ complaints: [], faults: [] })
  await context.close()
})

test('a service that does not answer is named, and asked again until it does', async () => {
  const order = await newOrder()
  const { context, page } = await openVisit(browser, { viewport: PHONE })
  const stop: Stop = { name: '', path: `/pay/${order.id}`, isUnanswered: true, ready: open => open.getByRole('alert').waitFor() }
  await visit(page, system.gatewayUrl, stop)
  await page.getByRole('heading', { name: 'The invoice could not be loaded' }).waitFor()
  await page.getByText('Wait: we try again every few seconds.').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await page.unrouteAll()
  await heading(page)
  expect(await page.getByRole('alert').count()).toBe(0)
  await context.close()
})

test('an address that leads nowhere has a heading, a reason and a way on, and nothing to try again', async () => {
  const { context, page, complaints } = await open('/nonsense')
  const missing = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
  for (const [path, title] of [
    ['/nonsense', 'Page not found'],
    ['/orders/garbage', 'Order not found'],
    [`/orders/${missing}`, 'Order not found'],
    ['/subscriptions/garbage', 'Subscription not found'],
    [`/deliveries/${missing}`, 'Delivery not found'],
  ] as const) {
    await page.goto(`${system.gatewayUrl}/dashboard${path}`)
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    expect(await page.getByText(/That did not work|Invalid UUID/).count()).toBe(0)
    expect(await page.locator('main').getByRole('link').count()).toBeGreaterThan(0)
  }
  expect(complaints).toEqual([])
  await context.close()
})

test('the overview sums what came whatever was created since, and an open one moves little at rest', async () => {
  const before = await paidToday()
  await pay(world.chain, await newOrder({ brl_amount: '150.00' }))
  await pay(world.chain, await newOrder({ brl_amount: '35.00' }))
  await system.idle()
  for (let count = 0; count < 110; count += 1) await newOrder({ brl_amount: '1.00' })
  const paid = await paidToday()
  expect(paid.payments).toBe(before.payments + 2)
  expect(Number(paid.brl_amount) - Number(before.brl_amount)).toBeCloseTo(185)

  const { context, page } = await openVisit(browser)
  await page.clock.install()
  await logIn(page, system.gatewayUrl, merchant.email)
  const total = new Intl.NumberFormat('en', { minimumFractionDigits: 2 }).format(Number(paid.brl_amount))
  await page.locator('.figure').getByText(`R$\u00a0${total}`).waitFor()
  const moved: Promise<number>[] = []
  page.on('response', response => moved.push(response.body().then(body => body.length)))
  await page.clock.runFor('01:00')
  await until(() => moved.length > 0, 'the overview is never asked for again')
  await page.waitForLoadState('networkidle')
  expect((await Promise.all(moved)).reduce((sum, size) => sum + size, 0)).toBeLessThan(50_000)
  // An answer that comes as the page closes has no body any more.
  page.removeAllListeners('response')
  await context.close()
})

async function paidToday() {
  const today = new Intl.DateTimeFormat('en-CA', { dateStyle: 'short' }).format(new Date())
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const path = `/api/v1/merchants/me/summary?${new URLSearchParams({ from: today, to: today, timezone })}`
  return (await call<SummaryBody>(system.gatewayUrl, 'GET', path, merchant.token)).total
}

test.each([
  ['a desk', 'en-US', { width: 1280, height: 860 }, 'Find', 'Settings'],
  ['a phone', 'pt-BR', PHONE, 'Encontrar', 'Ajustes'],
] as const)(
  'the command box leads to a page, and to an order by what is known of it, with the keyboard alone, on %s in %s',
  async (_, language, viewport, title, settings) => {
    const reference = `CX-${language}`
    const order = await newOrder({ external_ref: reference, description: 'Caixa de maçãs' })
    const { context, page, complaints } = await open('', { viewport, language })
    const button = page.getByRole('button', { name: title })
    const box = page.getByRole('dialog', { name: title })
    const field = box.getByRole('textbox', { name: title })
    await button.waitFor()
    const chosen = box.locator('[role=option][data-combobox-selected]')
    await page.keyboard.press('Control+k')
    await field.pressSequentially(settings.toLowerCase())
    await chosen.getByText(settings).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: settings }).waitFor()
    await box.waitFor({ state: 'detached' })
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('content')
    // Of two orders the one whose words these are, typed without their accents.
    await button.press('Enter')
    await field.fill(`${reference} macas`)
    await box.locator('.found-order[data-combobox-selected]').getByText(reference).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    expect(await tooWide(page)).toBe(0)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: reference }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/dashboard/orders/${order.id}`)
    // Nothing found is looked for in the list, whose filters may find it.
    await page.keyboard.press('Control+k')
    await field.fill('nothing of this name')
    await chosen.getByText('nothing of this name').waitFor()
    await page.keyboard.press('Escape')
    await box.waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toBe(`/dashboard/orders/${order.id}`)
    await page.keyboard.press('Control+k')
    await field.fill('nothing of this name')
    await chosen.getByText('nothing of this name').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/dashboard\/orders\?q=nothing\+of\+this\+name/)
    expect(complaints).toEqual([])
    await context.close()
  },
)
