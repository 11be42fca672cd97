import { setUp } from '../develop/setup.mjs'
import { fail, run } from '../develop/steps.mjs'

// Writes a picture of every page to .ponte/screenshots, or to PONTE_SCREENSHOTS: phone and desktop, light and dark.
await setUp().catch(fail)

const { code } = await run(
  { command: [process.execPath, 'node_modules/jest/bin/jest.js', '--testMatch', '**/tests/system/pages/screenshots.ts'] },
  line => console.error(line),
)
process.exitCode = code
