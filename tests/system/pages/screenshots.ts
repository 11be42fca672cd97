import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startAll } from '@ponte/all-in-one'
import { createMerchant, startWorld } from '../../world'
import { injectWallet, openBrowser, openVisit, PHONE } from './browser'
import { everyPage, logIn, newcomer, type Stop, visit } from './every-page'
import { furnish, payForDays } from './furnish'

// Not a test: `npm run screenshots` runs it for the pictures it leaves.

const folder = resolve(process.env.PONTE_SCREENSHOTS ?? join(__dirname, '../../../.ponte/screenshots'))
/** Only the pages whose name matches, when the variable is set. */
const wanted = new RegExp(process.env.PONTE_SCREENSHOT_PAGES ?? '')
const isWanted = (stop: Stop) => wanted.test(stop.name)
const DESK = { width: 1440, height: 900 }
const views = [
  { name: 'desktop-light', viewport: DESK, colorScheme: 'light', language: 'en-US' },
  { name: 'desktop-dark', viewport: DESK, colorScheme: 'dark', language: 'pt-BR' },
  { name: 'phone-light', viewport: PHONE, colorScheme: 'light', language: 'pt-BR' },
  { name: 'phone-dark', viewport: PHONE, colorScheme: 'dark', language: 'en-US' },
] as const

test('every page, on a phone and on a desk, by day and by night', async () => {
  mkdirSync(folder, { recursive: true })
  const world = await startWorld()
  const system = await startAll(world.place, { logger: world.logger })
  const browser = await openBrowser()
  try {
    const merchant = await createMerchant(world, system.gatewayUrl)
    await payForDays(world, system, merchant.api_key)
    const furnished = await furnish(world, system, merchant)
    const pages = everyPage(furnished)
    for (const { name, ...view } of views) {
      const { context, page } = await openVisit(browser, {
        ...view,
        deviceScaleFactor: 2,
        timezoneId: 'America/Sao_Paulo',
        hasTouch: view.viewport === PHONE,
      })
      if (view.viewport === DESK) await injectWallet(context, world.chain, 3)
      const shoot = async (stop: Stop) => {
        await visit(page, system.gatewayUrl, stop)
        if (!isWanted(stop)) return
        await page.evaluate('document.fonts.ready.then(() => null)')
        // An overlay belongs to the window, not to the length of the page.
        const fullPage = (await page.getByRole('dialog').count()) === 0
        await page.screenshot({ path: join(folder, `${stop.name}-${name}.png`), fullPage })
      }
      for (const stop of [...pages.troubled, ...pages.checkout].filter(isWanted)) await shoot(stop)
      const firstVisit = newcomer(`${name}@padaria.example`)
      if (firstVisit.some(isWanted)) {
        // Each step of a first visit needs the one before.
        for (const stop of firstVisit) await shoot(stop)
        await page.locator('.rail-end button.plain').click()
      }
      if (pages.dashboard.some(isWanted)) await logIn(page, system.gatewayUrl, furnished.merchant.email)
      for (const stop of pages.dashboard.filter(isWanted)) await shoot(stop)
      await context.close()
    }
  } finally {
    await browser.close()
    await system.stop()
    await world.stop()
  }
}, 900_000)
