import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CheckoutBody, OrderBody } from '@ponte/contracts'
import { findChromium, mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import type { Page } from 'playwright-core'
import { call, MERCHANT, merchant, PAYER, system, units, world } from '../../world'
import { DESKTOP, openVisit, PHONE } from './browser'
import { PASSWORD } from './every-page'
import { pathRecorder, pathText } from './path-recorder'
import { browser, runPages } from './run-pages'

// `npm run paths`: a payer's first time on a phone and a merchant's first time, step by step with seconds and hesitations; the time to the first payable
// pixel on a throttled phone; and what Lighthouse, which comes from the registry, makes of the checkout.

const LIGHTHOUSE = '12.8.2'
const LIGHTHOUSE_MS_MAX = 150_000
const SCORE_MIN = 95
const run = promisify(execFile)
/** A slow 4G of Chromium's own presets, and a phone four times slower than this machine. */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: (1.6 * 1024 * 1024) / 8, uploadThroughput: (750 * 1024) / 8 }
const CPU_SLOWER = 4
const PAYABLE_MS_MAX = 5_000

runPages({ world: { confirmations: 2 } })

const newOrder = () =>
  call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, {
    ...{ brl_amount: '150.00', description: 'Cesta de café da manhã', expires_in: 3600 },
  })
/** From an exchange or a wallet elsewhere, to the order's own address. */
async function send({
  payment,
  usdc_amount,
}: Pick<CheckoutBody, 'usdc_amount'> & { payment: { deposit_address: string | null } }): Promise<void> {
  const payer = world.chain.wallet(PAYER.privateKey)
  await mined(world.chain.mintUsdc(payer.address, units(usdc_amount)))
  await mined(world.chain.transferUsdc(payer, payment.deposit_address ?? '', units(usdc_amount)))
}
const urlOf = (order: OrderBody) => `${system.gatewayUrl}/pay/${order.id}`
const show = (text: string) => process.stdout.write(`\n${text}\n`)
const openPhone = () =>
  openVisit(browser, { viewport: PHONE, hasTouch: true, isMobile: true, deviceScaleFactor: 2, permissions: ['clipboard-write'] })

async function throttle(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', SLOW_4G)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWER })
}

// Runs in the page: when something that can be paid by is drawn.
const WATCH = `(() => {
  const look = () => {
    const shown = document.querySelector('.copy-block button, .primary')
    if (shown && shown.getBoundingClientRect().height > 0) globalThis.payableAt = performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
})()`

test('time to the first payable pixel on a throttled phone', async () => {
  const { context, page } = await openPhone()
  await context.addInitScript(WATCH)
  await throttle(page)
  let bytes = 0
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.goto(urlOf(await newOrder()))
  await until(() => page.evaluate<boolean>('globalThis.payableAt !== undefined'), 'nothing that can be paid by is drawn')
  const payableMs = await page.evaluate<number>('globalThis.payableAt')
  const paintMs = await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime")
  show(
    `First payable pixel, 1.6 Mbit/s, 150 ms, processor ${CPU_SLOWER} times slower: ${Math.round(payableMs)} ms; first paint ${Math.round(paintMs)} ms; ` +
      `${Math.round(bytes / 1024)} KiB`,
  )
  expect(payableMs).toBeLessThan(PAYABLE_MS_MAX)
  await context.close()
})

test('a payer`s first time, on a phone, by transfer', async () => {
  const order = await newOrder()
  const { context, page } = await openPhone()
  await throttle(page)
  const { step, steps } = pathRecorder(page)
  const copyAmount = page.getByRole('button', { name: 'Copy the amount' })
  const copyAddress = page.getByRole('button', { name: 'Copy the address' })
  const copied = page.getByRole('button', { name: 'Copied' }).first()
  await step({
    ...{ name: 'opens the link', act: () => page.goto(urlOf(order)), done: page.getByRole('heading', { level: 1 }) },
    question: 'is this the shop? (its name and what is bought head the page)',
  })
  await step({
    ...{ name: 'copies the amount', target: copyAmount, act: () => copyAmount.tap(), done: copied },
    question: 'why dollars? (reais are the larger figure, the rate stands below)',
  })
  await step({
    ...{
      name: 'copies the address',
      target: copyAddress,
      act: () => copyAddress.tap(),
      done: page.getByRole('button', { name: 'Copied' }).first(),
    },
    question: 'which network does my exchange send on? (the warning names the one that counts)',
  })
  await step({
    name: 'sends from an exchange, and sees that it arrived',
    act: () => send(order),
    done: page.getByRole('heading', { name: /^(Payment seen on the network|Paid)$/ }),
    question: 'did it work? (the page changes by itself, without a reload)',
  })
  const paid = page.getByRole('heading', { name: 'Paid', exact: true })
  await step({ name: 'sees that it is paid, with a receipt', act: async () => undefined, done: paid })
  show(pathText('A payer`s first time, on a throttled phone, by transfer', steps))
  await context.close()
})

test('a merchant`s first time', async () => {
  const { context, page } = await openVisit(browser, { viewport: DESKTOP })
  const { step, steps } = pathRecorder(page)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const press = (name: string) => ({ target: button(name), act: () => button(name).click() })
  const title = (name: string | RegExp) => page.getByRole('heading', { name })
  await step({ name: 'opens the dashboard', act: () => page.goto(`${system.gatewayUrl}/dashboard`), done: title('Log in') })
  await step({ name: 'wants an account', ...press('No account yet? Create one'), done: page.getByLabel('Email') })
  await page.getByLabel('Email').fill('ana@padaria.example')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await step({ name: 'creates it', ...press('Create account'), done: page.getByLabel('Store name') })
  await page.getByLabel('Store name').fill('Padaria da Ana')
  await page.getByLabel('Payout address').fill(MERCHANT.address)
  await page.getByLabel('Webhook URL').fill(world.receiverUrl)
  await step({
    ...{ name: 'names the store', ...press('Create store'), done: page.getByText(/^sk_live_/) },
    question: 'what is a payout address, what a webhook? (both may stay empty; the first steps ask again)',
  })
  await step({
    ...{ name: 'keeps the API key', ...press('I kept the key, go on'), done: page.locator('.first-steps') },
    question: 'do I need it? (only a program does; another can be made in the settings)',
  })
  const nav = (name: string) => page.getByRole('navigation').getByRole('link', { name })
  const secret = page.getByText(/^whsec_[0-9a-f]{64}$/)
  await step({ name: 'looks for the webhook`s secret', target: nav('Settings'), act: () => nav('Settings').click(), done: button('Show') })
  await step({ name: 'shows it, for the shop`s program', ...press('Show'), done: secret })
  world.receiver.trust((await secret.textContent()) ?? '')
  await step({ name: 'goes back', target: nav('Overview'), act: () => nav('Overview').click(), done: page.locator('.first-steps') })
  const firstInvoice = page.locator('.first-steps a').last()
  await step({ name: 'wants a first invoice', target: firstInvoice, act: () => firstInvoice.click(), done: page.getByRole('dialog') })
  await page.getByLabel('Amount').fill('150,00')
  const create = page.getByRole('button', { name: /^Create order/ })
  const link = page.getByRole('link', { name: 'Open the payment page' })
  await step({ name: 'creates it', target: create, act: () => create.click(), done: link })
  const order = await call<CheckoutBody>(system.gatewayUrl, 'GET', `/api/v1/checkout/${page.url().split('/').at(-1)}`, merchant.api_key)
  await step({
    name: 'sees it paid, without a reload',
    act: () => send(order),
    done: page.locator('.badges').getByText('Paid', { exact: true }),
  })
  await step({
    name: 'sees that the webhook was delivered',
    act: async () => undefined,
    done: page.locator('.timeline').getByText('Delivered'),
  })
  const sum = page.locator('.figure').getByText(/150/).first()
  await step({ name: 'sees the day`s sum', target: nav('Overview'), act: () => nav('Overview').click(), done: sum })
  show(pathText('A merchant`s first time, on a desk', steps))
  await context.close()
})

test('Lighthouse on the checkout', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-lighthouse-'))
  try {
    const url = urlOf(await newOrder())
    for (const form of ['mobile', 'desktop'] as const) {
      const path = join(folder, `${form}.json`)
      // Not waited for in place: the service that it asks runs in this process.
      await run(
        'npx',
        [
          ...['--yes', `lighthouse@${LIGHTHOUSE}`, url, '--quiet', '--output=json', `--output-path=${path}`],
          ...['--only-categories=performance,accessibility,best-practices', '--chrome-flags=--headless=new --no-sandbox'],
          ...(form === 'desktop' ? ['--preset=desktop'] : []),
        ],
        { timeout: LIGHTHOUSE_MS_MAX, env: { ...process.env, CHROME_PATH: await findChromium() } },
      )
      const report: { categories: Record<string, { score: number }>; audits: Record<string, { score: number | null; title: string }> } =
        JSON.parse(readFileSync(path, 'utf8'))
      const scores = Object.entries(report.categories).map(([name, { score }]) => [name, Math.round(score * 100)] as const)
      const below = Object.values(report.audits).filter(({ score }) => score !== null && score < 0.9)
      show(
        `Lighthouse ${LIGHTHOUSE}, ${form}: ${scores.map(([name, score]) => `${name} ${score}`).join(', ')}; below 90: ${below.map(({ title }) => title).join('; ') || 'none'}`,
      )
      for (const [name, score] of scores) expect({ form, name, good: score >= SCORE_MIN }).toEqual({ form, name, good: true })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 300_000)
