import { parseArgs } from 'node:util'
import { fail, StepError } from '../develop/steps.mjs'
import { ask, opsUrls } from './ops-ports.mjs'

// Has the listener read blocks once more, through another node than its scan where there is one: npm run rescan -- --from N --to N
const LOOK_MS = 500

async function main() {
  const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } })
  const [from, to] = [values.from, values.to].map(block => (/^\d+$/.test(block ?? '') ? Number(block) : Number.NaN))
  if (!(from <= to)) throw new StepError('Usage: rescan --from N --to N')
  const url = opsUrls(['chain-listener'])['chain-listener']
  await ask(url, `/rescan?from_block=${from}&to_block=${to}`, { method: 'POST' })
  for (let printed = -1; ; ) {
    const { pending } = await ask(url, '/rescan')
    if (pending === null) return console.log(`Blocks ${from} to ${to} were read again. npm run reconcile shows what the books have now.`)
    if (pending.from !== printed) console.log(`blocks ${pending.from} to ${pending.to} are left`)
    printed = pending.from
    await new Promise(resolve => setTimeout(resolve, LOOK_MS))
  }
}

await main().catch(fail)
