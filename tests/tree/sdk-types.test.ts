import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

it('the types of packages/sdk are those of the OpenAPI document', () => {
  execFileSync(process.execPath, [join(__dirname, 'sdk-types.mjs')], { stdio: 'pipe' })
}, 120_000)

it('the reference of packages/sdk at /docs/sdk is what its docstrings give', () => {
  execFileSync(process.execPath, [join(__dirname, 'sdk-reference.mjs')], { stdio: 'pipe' })
}, 120_000)
