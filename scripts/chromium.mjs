import { fileURLToPath } from 'node:url'
import { findProgram, installDebianPackage } from './debian.mjs'

/** The browser that page tests drive: PONTE_CHROMIUM, an installed one, or Debian's package when it may be installed. */
export async function chromium() {
  const found = () => process.env.PONTE_CHROMIUM ?? findProgram('chromium', 'chromium-browser', 'google-chrome')
  if (!found()) await installDebianPackage('chromium', 'testing the pages')
  return found()
}

// `node scripts/chromium.mjs` prints the path, for tests that want a browser only when they run.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(await chromium())
  } catch (error) {
    console.error(`${error.message}\nOr set PONTE_CHROMIUM to a Chromium of yours.`)
    process.exitCode = 1
  }
}
