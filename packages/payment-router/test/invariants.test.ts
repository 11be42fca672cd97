import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { paymentRouterBytecode } from '../src/artifacts/payment-router'
import { routerFactoryBytecode } from '../src/artifacts/router-factory'

const root = join(__dirname, '..')

const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [join(root, 'scripts/forge.mjs'), ...args], { maxBuffer: 100_000_000 }).catch(error => {
    throw new Error(`forge ${args.join(' ')}:\n${String(error.stdout).slice(-5_000)}${String(error.stderr).slice(-2_000)}`)
  })

async function bytecodeOf(contract: string): Promise<string> {
  const artifact = JSON.parse(await readFile(join(root, `node_modules/.forge/out/${contract}.sol/${contract}.json`), 'utf8'))
  return artifact.bytecode.object
}

it('the contracts keep their invariants and refuse what they must, and what is tested is what is deployed', async () => {
  const { stdout } = await run('test')
  const passed = [...stdout.matchAll(/^\[PASS\] (\w+)/gm)].map(([, name]) => name)
  expect(passed.filter(name => name?.startsWith('invariant_'))).toHaveLength(4)
  expect(passed.filter(name => name?.startsWith('test'))).toHaveLength(15)
  expect(await bytecodeOf('PaymentRouter')).toBe(paymentRouterBytecode)
  expect(await bytecodeOf('RouterFactory')).toBe(routerFactoryBytecode)
  // Half a minute of a free processor where forge has to be installed and everything compiled, and more of a busy one.
}, 600_000)
