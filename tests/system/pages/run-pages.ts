import type { Browser } from 'playwright-core'
import { runSystem } from '../../world'
import { openBrowser } from './browser'

export let browser: Browser

/** The system and a browser for all tests of a file. */
export function runPages(options?: Parameters<typeof runSystem>[0]): void {
  // Hooks run in the order in which they are declared, and the browser goes first.
  afterAll(() => browser?.close())
  runSystem(options)
  beforeAll(async () => {
    browser = await openBrowser()
  })
}
