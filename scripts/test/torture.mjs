import { forge } from '../../packages/payment-router/scripts/forge.mjs'
import { setUp } from '../develop/setup.mjs'
import { fail, StepError } from '../develop/steps.mjs'
import { runTool } from './with-servers.mjs'

const SERVICES = ['api-gateway', 'orders', 'subscriptions', 'chain-listener', 'webhook-dispatcher']
/** Distance that a database goes back here; npm run bench -- restores takes two minutes. */
const BACK_S = '30'

/** The contracts' four invariants on 250 random sequences of a hundred calls each, drawn anew at each run. */
async function tortureContracts() {
  const { code } = await forge(['test', '--match-contract', 'RouterInvariants'], { inherit: true, profile: 'long' })
  if (code !== 0) throw new StepError('The contracts broke an invariant; the calls that led there are above.')
}

/** One database goes back under traffic, another at each run: --restores all | none | <service>… for others. */
async function restore(wanted) {
  const names = wanted ?? [SERVICES[Math.floor(Math.random() * SERVICES.length)]]
  if (names.length === 0) return
  const env = { DRILL_BACK_S: process.env.DRILL_BACK_S ?? BACK_S, DRILL_STOCK: process.env.DRILL_STOCK ?? '300' }
  await runTool('tests/drills/restores.ts', [], { ...env, DRILL_SERVICES: names.join() })
}

function restoresWanted(args) {
  const at = args.indexOf('--restores')
  if (at < 0) return undefined
  const [, value = ''] = args.splice(at, 2)
  const names = value === 'all' ? SERVICES : value === 'none' ? [] : value.split(',')
  if (names.some(name => !SERVICES.includes(name))) throw new StepError(`--restores all | none | ${SERVICES.join(' | ')}`)
  return names
}

async function main() {
  const args = process.argv.slice(2)
  const wanted = restoresWanted(args)
  await setUp()
  await tortureContracts()
  await runTool('tests/torture/main.ts', args)
  await restore(wanted)
}

await main().catch(fail)
