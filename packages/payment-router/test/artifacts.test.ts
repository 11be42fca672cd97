import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { keccak256 } from 'ethers'
import { paymentRouterBytecode } from '../src/artifacts/payment-router'
import { routerFactoryBytecode } from '../src/artifacts/router-factory'

describe('the committed artifacts', () => {
  // A change here changes every address that is not deployed yet: docs/deploying-contracts.md must name the new hashes.
  it('have the init code whose hashes are published', async () => {
    const document = await readFile(join(__dirname, '../../../docs/deploying-contracts.md'), 'utf8')
    for (const bytecode of [routerFactoryBytecode, paymentRouterBytecode]) expect(document).toContain(keccak256(bytecode))
  })

  it('are what the contracts compile to', async () => {
    const compiled = promisify(execFile)(process.execPath, [join(__dirname, '../scripts/compile.mjs'), '--check'])
    await expect(compiled).resolves.toMatchObject({ stderr: '' })
    // The compiler takes some seconds of a free processor, and more of a busy one.
  })
})
