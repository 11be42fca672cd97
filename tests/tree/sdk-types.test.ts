import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

it('the types of packages/sdk are those of the OpenAPI document', () => {
  execFileSync(process.execPath, [join(__dirname, 'sdk-types.mjs')], { stdio: 'pipe' })
}, 120_000)
