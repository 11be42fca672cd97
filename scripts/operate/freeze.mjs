import { parseArgs } from 'node:util'
import { fail, StepError } from '../develop/steps.mjs'
import { ask, opsUrls } from './ops-ports.mjs'

// Stops every change of a merchant's owners, payout address and endpoints, or lets them go on (docs/operating/incidents.md): npm run freeze -- <merchant id> [--end]
async function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { end: { type: 'boolean', default: false } } })
  const [id, ...more] = positionals
  if (!id || more.length > 0) throw new StepError('Usage: freeze <merchant id> [--end]')
  const url = opsUrls(['api-gateway'])['api-gateway']
  const path = `/merchants/${encodeURIComponent(id)}/${values.end ? 'unfreeze' : 'freeze'}`
  const { display_name, frozen_at, waiting } = await ask(url, path, { method: 'POST' })
  const waits = waiting === 1 ? '1 change waits.' : `${waiting} changes wait.`
  console.log(frozen_at ? `${display_name} is frozen since ${frozen_at}; ${waits}` : `${display_name} is not frozen; ${waits}`)
}

await main().catch(fail)
