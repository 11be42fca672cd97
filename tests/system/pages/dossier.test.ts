import { readFileSync } from 'node:fs'
import { type EntryBody, formatUsdc, type List, type MerchantBody, type OrderBody, parseUsdc } from '@ponte/contracts'
import type { Page } from 'playwright-core'
import { call, merchant, pay, system, world } from '../../world'
import { pdfText } from '../../world/pdf-text'
import { DESKTOP, injectWallet, openVisit, PHONE, seriousFaults } from './browser'
import { logIn } from './every-page'
import { browser, runPages } from './run-pages'

// A merchant proves the payout address with its wallet, and has a dossier made for the exchange that asks.

const MERCHANT_ACCOUNT = 2
runPages()
beforeAll(async () => {
  for (const external_ref of ['INV-3', 'INV-2', 'INV-1']) {
    const body = { brl_amount: '150.00', external_ref }
    await pay(world.chain, await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, body))
    await system.idle()
  }
})

/** As the pages show it: at least two decimals, and as many more as mean something. */
const shortDecimal = (sum: string) => sum.replace(/0{1,4}$/, '')
const card = (page: Page, name: string) => page.locator('.card').filter({ has: page.getByRole('heading', { name, exact: true }) })
const pictured = async (page: Page, name: string) => {
  if (process.env.PICTURES_DIR) await page.screenshot({ path: `${process.env.PICTURES_DIR}/${name}.png`, fullPage: true })
}

test('the wallet of the payout address signs it, and another account does not', async () => {
  const me = () => call<MerchantBody>(system.gatewayUrl, 'GET', '/api/v1/merchants/me', merchant.token)
  for (const [account, refusal] of [
    [5, 'Your wallet is at another account.'],
    [MERCHANT_ACCOUNT, null],
  ] as const) {
    const { context, page, complaints, strangers } = await openVisit(browser, { viewport: DESKTOP })
    await injectWallet(context, world.chain, account)
    await logIn(page, system.gatewayUrl, merchant.email)
    await page.goto(`${system.gatewayUrl}/dashboard/settings`)
    const payout = card(page, 'Payout address')
    await payout.getByText('takes a signature of this address as proof').waitFor()
    await pictured(page, `settings-${account}`)
    expect(await seriousFaults(page)).toEqual([])
    await payout.getByRole('button', { name: /^Sign with/ }).click()
    await payout.getByText(refusal ?? 'Signed by its key on').waitFor()
    expect((await me()).payout_proof?.signature == null).toBe(refusal !== null)
    expect([complaints, strangers]).toEqual([[], []])
    await context.close()
  }
})

test.each([
  [
    'on a desk, in English',
    DESKTOP,
    'en-US',
    { title: 'Origin dossier', amount: 'Amount withdrawn, in USDC', typed: '0.50', make: 'Prepare dossier', save: 'Download' },
  ],
  [
    'on a phone, in Portuguese',
    PHONE,
    'pt-BR',
    { title: 'Dossiê de origem', amount: 'Valor retirado, em USDC', typed: '0,50', make: 'Preparar dossiê', save: 'Baixar' },
  ],
] as const)('a dossier of an amount is made and downloaded, %s', async (_, viewport, language, words) => {
  const { context, page, complaints, strangers } = await openVisit(browser, { viewport, language })
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/month`)
  const asked = card(page, words.title)
  await asked.getByLabel(words.amount).fill('9999999')
  await asked.getByRole('button', { name: words.make }).click()
  await asked.locator('[aria-invalid=true]').waitFor()
  await asked.getByLabel(words.amount).fill(words.typed)
  await asked.getByRole('button', { name: words.make }).click()
  const save = asked.getByRole('listitem').first().getByRole('button', { name: words.save })
  await save.waitFor()
  await asked.scrollIntoViewIfNeeded()
  await pictured(page, `dossier-${language}`)
  expect(await seriousFaults(page)).toEqual([])
  const [file] = await Promise.all([page.waitForEvent('download'), save.click()])
  expect(file.suggestedFilename()).toMatch(/^dossier-[\w-]+\.pdf$/)
  expect(
    readFileSync(await file.path())
      .subarray(0, 5)
      .toString(),
  ).toBe('%PDF-')
  const text = pdfText(await file.path()).join('\n')
  for (const shown of ['INV-1', 'Ponte: my orders are paid out to this address.', '0.500000 USDC']) expect(text).toContain(shown)
  expect([complaints, strangers]).toEqual([[], []])
  await context.close()
})

test.each([
  [
    'on a desk, in English',
    DESKTOP,
    'en-US',
    {
      ...{ title: 'Origin dossier', make: 'Prepare dossier', save: 'Download', all: 'Choose all shown for a dossier', none: 'Choose none' },
      ...{ one: (sequence: number) => `Choose no. ${sequence} for a dossier`, go: 'To the dossier', amount: 'Amount withdrawn, in USDC' },
      chosen: (count: number, sum: string) => `${count} movements chosen: ${shortDecimal(sum)}\u00a0USDC`,
    },
  ],
  [
    'on a phone, in Portuguese',
    PHONE,
    'pt-BR',
    {
      ...{ title: 'Dossiê de origem', make: 'Preparar dossiê', save: 'Baixar', all: 'Escolher todos os mostrados para um dossiê' },
      ...{ none: 'Não escolher nenhum', one: (sequence: number) => `Escolher o nº ${sequence} para um dossiê`, go: 'Ao dossiê' },
      amount: 'Valor retirado, em USDC',
      chosen: (count: number, sum: string) => `${count} movimentos escolhidos: ${shortDecimal(sum).replace('.', ',')}\u00a0USDC`,
    },
  ],
] as const)('a dossier is made of exactly the movements that are chosen, by keyboard, %s', async (_, viewport, language, words) => {
  const { data } = await call<List<EntryBody>>(system.gatewayUrl, 'GET', '/api/v1/entries?kind=settled', merchant.api_key)
  const [oldest, middle, newest] = data.toSorted((a, b) => a.sequence - b.sequence)
  const sumOf = (...entries: (EntryBody | undefined)[]) =>
    formatUsdc(entries.reduce((sum, entry) => sum + parseUsdc(entry?.amount ?? '0'), 0n))
  const { context, page, complaints, strangers } = await openVisit(browser, { viewport, language })
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/month`)
  const asked = card(page, words.title)
  await page.getByLabel(words.all).focus()
  await page.keyboard.press('Space')
  await asked.getByText(words.chosen(3, sumOf(oldest, middle, newest))).waitFor()
  await asked.getByRole('button', { name: words.none }).click()
  await asked.getByLabel(words.amount).waitFor()
  for (const entry of [oldest, newest]) {
    await page.getByLabel(words.one(entry?.sequence ?? 0), { exact: true }).focus()
    await page.keyboard.press('Space')
  }
  expect(await page.locator('input:indeterminate').count()).toBe(1)
  await page
    .getByRole('status')
    .filter({ hasText: words.chosen(2, sumOf(oldest, newest)) })
    .waitFor()
  await pictured(page, `dossier-chosen-${language}`)
  expect(await seriousFaults(page)).toEqual([])
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  await page.getByRole('button', { name: words.go }).press('Enter')
  await page
    .locator('.card:focus')
    .getByText(words.chosen(2, sumOf(oldest, newest)))
    .waitFor()
  await asked.getByRole('button', { name: words.make }).press('Enter')
  await asked.getByLabel(words.amount).waitFor()
  const save = asked.getByRole('listitem').first().getByRole('button', { name: words.save })
  await save.waitFor()
  const [file] = await Promise.all([page.waitForEvent('download'), save.click()])
  const text = pdfText(await file.path()).join('\n')
  for (const shown of ['INV-1', 'INV-3', `${sumOf(oldest, newest)} USDC`]) expect(text).toContain(shown)
  expect(text).not.toContain('INV-2')
  expect([complaints, strangers]).toEqual([[], []])
  await context.close()
})
