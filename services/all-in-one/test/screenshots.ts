import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startAll } from '../src'
import { DESKTOP, injectWallet, openBrowser, openVisit, PHONE } from './browser'
import { everyPage, furnish, logIn } from './every-page'
import { startWorld } from './system'

// Not a test: `npm run screenshots` runs it for the pictures it leaves.

const folder = resolve(process.env.PONTE_SCREENSHOTS ?? join(__dirname, '../../../.ponte/screenshots'))
const views = [
  { name: 'desktop-light', viewport: DESKTOP, colorScheme: 'light', language: 'en-US' },
  { name: 'desktop-dark', viewport: DESKTOP, colorScheme: 'dark', language: 'pt-BR' },
  { name: 'phone-light', viewport: PHONE, colorScheme: 'light', language: 'pt-BR' },
  { name: 'phone-dark', viewport: PHONE, colorScheme: 'dark', language: 'en-US' },
] as const

test('every page, on a phone and on a desk, by day and by night', async () => {
  mkdirSync(folder, { recursive: true })
  const world = await startWorld()
  const system = await startAll(world.place, { logger: world.logger })
  const browser = await openBrowser()
  try {
    const furnished = await furnish(world, system)
    const pages = everyPage(furnished)
    for (const { name, ...view } of views) {
      const { context, page } = await openVisit(browser, { ...view, deviceScaleFactor: 2 })
      if (view.viewport === DESKTOP) await injectWallet(context, world.chain, 3)
      const shoot = async (stop: { name: string }) => {
        await page.evaluate('document.fonts.ready.then(() => null)')
        await page.screenshot({ path: join(folder, `${stop.name}-${name}.png`), fullPage: true })
      }
      for (const stop of pages.checkout) {
        await page.goto(system.gatewayUrl + stop.path)
        await stop.ready(page)
        await shoot(stop)
      }
      await page.goto(`${system.gatewayUrl}/dashboard`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await shoot({ name: 'sign-in' })
      await logIn(page, system.gatewayUrl, furnished.merchant.email)
      for (const stop of pages.dashboard) {
        await page.goto(system.gatewayUrl + stop.path)
        await stop.ready(page)
        await shoot(stop)
      }
      await context.close()
    }
  } finally {
    await browser.close()
    await system.stop()
    await world.stop()
  }
}, 300_000)
