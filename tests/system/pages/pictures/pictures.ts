import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startAll } from '@ponte/all-in-one'
import type { Browser, Page } from 'playwright-core'
import { createMerchant, startWorld } from '../../../world'
import { openBrowser, openVisit, PHONE } from '../browser'
import { everyPage, furtherPages, gatewayPages, logIn, newcomer, type Shown, type Stop, visit } from '../every-page'
import { furnish, payForDays } from '../furnish'
import { type Answers, answersFile, answersText, ORIGIN, quietness, readAnswers, recorder, replay } from './answers'
import { type Compared, pictureComparer } from './compare'
import { startGatewayPages } from './gateway-pages'

// `npm run pictures`: every page on a phone and on a desk, by day and by night, in both languages, against the pictures in `reference`. The pages get
// recorded answers at the recorded time. PONTE_PICTURES=renew keeps what the pages look like now; =record asks a whole system for the answers before.

const task = process.env.PONTE_PICTURES ?? 'compare'
const wanted = new RegExp(process.env.PONTE_PICTURE_PAGES ?? '')
const REFERENCE = join(__dirname, 'reference')
const DIFFERENCES = join(__dirname, '../../../../.ponte/pictures')
const DESK = { width: 1440, height: 900 }
const EMAIL = 'ana@padaria.example'
const STILL_TURNS_MAX = 20
/** As many in a row that are the same; more for a picture that is to be kept. */
const STILL_PICTURES = task === 'compare' ? 2 : 4
/** Chromium draws the rounded corners of some pictures otherwise by a few levels, of which the encoding makes more: what is the same once is the same. */
const LOOKS_MAX = 5
const SIZE_MAX = 8 * 1024 * 1024
/** A documentation page is as long as a book. */
const HEIGHT_MAX = 4_000
const DRAWN = 'new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(null))))'
/** The row of pages is wider than a phone, and was scrolled to the present one before the fonts and its numbers had come. */
const COME_TO_REST = `Promise.all([document.fonts.ready, ...[...document.images].map(image => image.decode())]).then(() =>
  document.querySelector('nav [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest', behavior: 'instant' }))`

const views = [
  { name: 'desktop', viewport: DESK },
  { name: 'phone', viewport: PHONE },
].flatMap(view => [{ ...view, language: 'pt-BR', short: 'pt' } as const, { ...view, language: 'en-US', short: 'en' } as const])

const stopsOf = (shown: Shown): Stop[] => {
  const { checkout, troubled, dashboard } = everyPage(shown)
  const recorded = [...troubled, ...checkout, ...newcomer(EMAIL), ...dashboard]
  return [...recorded, ...furtherPages(recorded, shown), ...gatewayPages]
}

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
}, 300_000)
afterAll(() => browser?.close())

test('every page looks as in its picture', async () => {
  const answers = task === 'record' ? await recorded() : readAnswers()
  const compare = await pictureComparer(browser)
  const gateway = await startGatewayPages()
  const faults: string[] = []
  const seen = new Set<string>()
  rmSync(DIFFERENCES, { recursive: true, force: true })
  const take = async (page: Page, file: string, isWindow: boolean) => {
    const reference = existsSync(join(REFERENCE, file)) ? readFileSync(join(REFERENCE, file)) : null
    seen.add(file)
    let looks = 0
    let found: { taken: Buffer } & Compared
    do {
      const taken = await still(page, isWindow)
      found = { taken, ...(await compare(taken, reference)) }
      if (found.isSame) return
      looks += 1
    } while (reference !== null && task === 'compare' && looks < LOOKS_MAX)
    const { taken, picture, pixels, difference } = found
    if (task !== 'compare') return write(join(REFERENCE, file), picture)
    faults.push(
      `${file}: ${reference === null ? 'no picture is kept' : pixels === Number.POSITIVE_INFINITY ? 'another size' : `${pixels} pixels`}`,
    )
    write(join(DIFFERENCES, file), difference)
    write(join(DIFFERENCES, file.replace('.webp', '.png')), taken)
  }
  /** A visitor of its own for each page: neither storage nor focus nor the place of the pointer comes from another one. */
  const look = async ({ override: _, ...stop }: Stop, { name, viewport, language, short }: (typeof views)[number]) => {
    const options = { viewport, language, deviceScaleFactor: 0.5, timezoneId: 'America/Sao_Paulo', hasTouch: viewport === PHONE }
    const { context, page } = await openVisit(browser, { ...options, colorScheme: 'light' })
    if (viewport === DESK && !stop.hasNoWallet)
      await context.addInitScript('globalThis.ethereum = { request: () => Promise.resolve(null) }')
    if (stop.isOfGateway) await context.route('**/*', route => gateway.answer(route, language))
    const replayed = stop.isOfGateway ? null : await replay(context, answers, stop)
    const isQuiet = quietness(page)
    await visit(page, ORIGIN, stop, replayed?.at)
    await isQuiet()
    await page.mouse.move(0, 0)
    await page.evaluate(COME_TO_REST)
    const isWindow = stop.isWindow ?? (await page.getByRole('dialog').count()) > 0
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await take(page, `${name}-${colorScheme}-${short}/${stop.name}.webp`, isWindow)
    }
    faults.push(...(replayed?.missing ?? []))
    await context.close()
  }
  const lookAll = async (view: (typeof views)[number]) => {
    const stops = stopsOf(answers.shown).filter(stop => wanted.test(stop.name) && !(stop.isEnglish && view.short !== 'en'))
    for (const stop of stops) await look(stop, view).catch(error => faults.push(`${stop.name} on a ${view.name}: ${error}`))
  }
  // A picture waits for frames most of its time.
  for (const view of ['desktop', 'phone']) await Promise.all(views.filter(({ name }) => name === view).map(lookAll))
  await gateway.stop()
  const kept = existsSync(REFERENCE)
    ? readdirSync(REFERENCE, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.webp'))
    : []
  const left = process.env.PONTE_PICTURE_PAGES ? [] : kept.filter(file => !seen.has(file))
  if (task === 'compare') faults.push(...left.map(file => `${file}: no page of this name`))
  else for (const file of left) rmSync(join(REFERENCE, file))
  expect(faults).toEqual([])
  const bytes = kept.filter(file => !left.includes(file)).reduce((sum, file) => sum + readFileSync(join(REFERENCE, file)).length, 0)
  expect(bytes).toBeLessThan(SIZE_MAX)
}, 3_600_000)

/** A picture of a page that has come to rest: of its length, or of what is in sight. */
async function still(page: Page, isWindow: boolean): Promise<Buffer> {
  const size = await page.evaluate<{ width: number; height: number }>(
    '({ width: innerWidth, height: document.documentElement.scrollHeight })',
  )
  const clip = { x: 0, y: 0, width: size.width, height: Math.min(size.height, HEIGHT_MAX) }
  let last: Buffer | undefined
  let same = 0
  for (let turn = 0; turn < STILL_TURNS_MAX; turn += 1) {
    await page.evaluate(DRAWN)
    const taken = await page.screenshot({ animations: 'disabled', ...(isWindow ? {} : { fullPage: true, clip }) })
    same = last?.equals(taken) ? same + 1 : 1
    if (same === STILL_PICTURES) return taken
    last = taken
  }
  throw new Error(`The page ${page.url()} does not come to rest.`)
}

function write(path: string, data: Buffer | string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, data)
}

/** What a whole system answers to each page, kept for all later runs. */
async function recorded(): Promise<Answers> {
  const world = await startWorld()
  const system = await startAll(world.place, { logger: world.logger })
  const { context, page } = await openVisit(browser, { viewport: DESK, timezoneId: 'America/Sao_Paulo' })
  try {
    const merchant = await createMerchant(world, system.gatewayUrl)
    await payForDays(world, system, merchant.api_key)
    const { pending, paid, underpaid, cancelled, subscription, failed } = await furnish(world, system, merchant)
    const idOf = ({ id }: { id: string }) => ({ id })
    const shown: Shown = {
      ...{ pending: idOf(pending), paid: idOf(paid), underpaid: idOf(underpaid), cancelled: idOf(cancelled), failed },
      subscription: { id: subscription.id, payer_url: subscription.payer_url?.replace(system.gatewayUrl, ORIGIN) },
    }
    const { answers, begin, end } = recorder(page, shown, system.gatewayUrl)
    const isQuiet = quietness(page)
    const look = async (stop: Stop) => {
      await page.goto('about:blank')
      begin()
      await visit(page, system.gatewayUrl, stop)
      await isQuiet()
      await end(stop.name)
    }
    const { checkout, troubled, dashboard } = everyPage(shown)
    for (const stop of [...troubled, ...checkout, ...newcomer(EMAIL)]) await look(stop)
    await page.locator('.rail-end .plain').click()
    await logIn(page, system.gatewayUrl, merchant.email)
    for (const stop of dashboard) await look(stop)
    write(answersFile, answersText(answers))
    return answers
  } finally {
    await context.close()
    await system.stop()
    await world.stop()
  }
}
