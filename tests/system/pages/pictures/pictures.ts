import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startAll } from '@ponte/all-in-one'
import type { Browser, Page } from 'playwright-core'
import { createMerchant, startWorld } from '../../../world'
import { openVisit, PHONE } from '../browser'
import { everyPage, furtherPages, gatewayPages, logIn, newcomer, type Shown, type Stop, visit } from '../every-page'
import { furnish, payForDays } from '../furnish'
import { type Answers, answersFile, answersText, ORIGIN, quietness, readAnswers, recorder, replay } from './answers'
import { type Compared, pictureComparer } from './compare'
import { startGatewayPages } from './gateway-pages'
import { openSteadyBrowser } from './same-everywhere'

// `npm run pictures`: every page on a desk in Portuguese and on a phone in English, against the pictures in `reference`; some of them by night and in the
// other language too. The pages get recorded answers at the recorded time. PONTE_PICTURES=renew keeps what the pages look like now; =record asks a whole
// system for the answers before.

const task = process.env.PONTE_PICTURES ?? 'compare'
const wanted = new RegExp(process.env.PONTE_PICTURE_PAGES ?? '')
const REFERENCE = join(__dirname, 'reference')
/** Another version of the browser may draw all pictures otherwise. */
const DRAWN_BY = join(REFERENCE, 'chromium.txt')
const DIFFERENCES = join(__dirname, '../../../../.ponte/pictures')
const DESK = { width: 1440, height: 900 }
const EMAIL = 'ana@padaria.example'
const STILL_TURNS_MAX = 20
/** As many in a row that are the same; more for a picture that is to be kept. */
const STILL_PICTURES = task === 'compare' ? 2 : 4
/** Chromium draws the rounded corners of some pictures otherwise by a few levels, of which the encoding makes more: what is the same once is the same. */
const LOOKS_MAX = 5
const PICTURES_MAX = 300
/** A documentation page is as long as a book. */
const HEIGHT_MAX = 4_000
const DRAWN = 'new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(null))))'
/** The row of pages is wider than a phone, and was scrolled to the present one before the fonts and its numbers had come. */
const COME_TO_REST = `Promise.all([document.fonts.ready, ...[...document.images].map(image => image.decode())]).then(() =>
  document.querySelector('nav [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest', behavior: 'instant' }))`

/** The states of a checkout that most payers see, in both languages on both screens. */
const BOTH = [
  ...['checkout', 'checkout-sent', 'checkout-confirming', 'checkout-paid', 'checkout-underpaid', 'checkout-overpaid'],
  ...['checkout-paid-late', 'checkout-expired', 'checkout-cancelled', 'checkout-reorged'],
]
const isInBoth = ({ name }: Stop) => BOTH.includes(name)
const NIGHT = ['checkout', 'checkout-paid', 'payer-subscription', 'overview', 'order']
const isByNight = ({ name }: Stop) => NIGHT.includes(name)

interface View {
  name: string
  viewport: { width: number; height: number }
  language: 'pt-BR' | 'en-US'
  shows(stop: Stop): boolean
  showsByNight?(stop: Stop): boolean
}
const views: View[] = [
  { name: 'desktop-pt', viewport: DESK, language: 'pt-BR', shows: ({ isEnglish }) => !isEnglish, showsByNight: isByNight },
  { name: 'phone-en', viewport: PHONE, language: 'en-US', shows: () => true },
  { name: 'desktop-en', viewport: DESK, language: 'en-US', shows: stop => stop.isEnglish === true || isInBoth(stop) },
  { name: 'phone-pt', viewport: PHONE, language: 'pt-BR', shows: isInBoth },
]

const stopsOf = (shown: Shown): Stop[] => {
  const { checkout, troubled, dashboard } = everyPage(shown)
  const recorded = [...troubled, ...checkout, ...newcomer(EMAIL), ...dashboard]
  return [...recorded, ...furtherPages(recorded, shown), ...gatewayPages]
}

let browser: Browser
let close: () => Promise<void>
beforeAll(async () => {
  const opened = await openSteadyBrowser()
  browser = opened.browser
  close = opened.close
}, 300_000)
afterAll(() => close?.())

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
    let found: Compared
    do {
      found = await compare(await still(page, isWindow), reference)
      if (found.isSame) return
      looks += 1
    } while (reference !== null && task === 'compare' && looks < LOOKS_MAX)
    const { picture, pixels, sheet } = found
    if (task !== 'compare') return write(join(REFERENCE, file), picture)
    faults.push(
      `${file}: ${reference === null ? 'no picture is kept' : pixels === Number.POSITIVE_INFINITY ? 'another size' : `${pixels} pixels`}`,
    )
    write(join(DIFFERENCES, file), sheet)
  }
  /** A visitor of its own for each page: neither storage nor focus nor the place of the pointer comes from another one. */
  const look = async ({ override: _, ...stop }: Stop, { name, viewport, language, showsByNight }: View) => {
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
    await take(page, `${name}/${stop.name}.webp`, isWindow)
    if (showsByNight?.(stop)) {
      await page.emulateMedia({ colorScheme: 'dark' })
      await take(page, `${name}-dark/${stop.name}.webp`, isWindow)
    }
    faults.push(...(replayed?.missing ?? []))
    await context.close()
  }
  const lookAll = async (view: View) => {
    const stops = stopsOf(answers.shown).filter(stop => wanted.test(stop.name) && view.shows(stop))
    for (const stop of stops) await look(stop, view).catch(error => faults.push(`${view.name}/${stop.name}: ${error}`))
  }
  // A picture waits for frames most of its time.
  await Promise.all(views.map(lookAll))
  await gateway.stop()
  const kept = existsSync(REFERENCE)
    ? readdirSync(REFERENCE, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.webp'))
    : []
  const left = process.env.PONTE_PICTURE_PAGES ? [] : kept.filter(file => !seen.has(file))
  if (task !== 'compare' && !process.env.PONTE_PICTURE_PAGES) write(DRAWN_BY, `${browser.version()}\n`)
  const drawnBy = existsSync(DRAWN_BY) ? readFileSync(DRAWN_BY, 'utf8').trim() : 'another version'
  if (faults.length > 0 && drawnBy !== browser.version())
    faults.push(`Chromium ${drawnBy} drew the kept pictures, and this is ${browser.version()}.`)
  if (task === 'compare') faults.push(...left.map(file => `${file}: no page of this name`))
  else for (const file of left) rmSync(join(REFERENCE, file))
  expect(faults).toEqual([])
  expect(seen.size).toBeLessThanOrEqual(PICTURES_MAX)
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

/** A whole system's answers to each page, kept for all later runs. */
async function recorded(): Promise<Answers> {
  const world = await startWorld()
  const system = await startAll(world.place, { logger: world.logger })
  const { context, page } = await openVisit(browser, { viewport: DESK, timezoneId: 'America/Sao_Paulo' })
  try {
    const merchant = await createMerchant(world, system.gatewayUrl)
    await payForDays(world, system, merchant.api_key)
    const { pending, paid, underpaid, cancelled, subscription, claim, link, failed } = await furnish(world, system, merchant)
    const idOf = ({ id }: { id: string }) => ({ id })
    const shown: Shown = {
      ...{ pending: idOf(pending), paid: idOf(paid), underpaid: idOf(underpaid), cancelled: idOf(cancelled), failed },
      claim: { url: claim.url?.replace(system.gatewayUrl, ORIGIN) ?? null },
      link: { id: link.id, url: link.url.replace(system.gatewayUrl, ORIGIN) },
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
    await page.locator('.rail-end button.plain').click()
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
