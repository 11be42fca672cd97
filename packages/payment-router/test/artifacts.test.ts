import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

describe('the committed artifacts', () => {
  it('are what the contracts compile to', async () => {
    const compiled = promisify(execFile)(process.execPath, [join(__dirname, '../scripts/compile.mjs'), '--check'])
    await expect(compiled).resolves.toMatchObject({ stderr: '' })
    // The compiler takes some seconds of a free processor, and more of a busy one.
  }, 120_000)
})
