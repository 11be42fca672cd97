import { forge } from '../../packages/payment-router/scripts/forge.mjs'
import { setUp } from '../develop/setup.mjs'
import { fail, StepError } from '../develop/steps.mjs'
import { runTool } from './with-servers.mjs'

/** The contracts' four invariants on 250 random sequences of a hundred calls each, drawn anew at each run. */
async function tortureContracts() {
  const { code } = await forge(['test', '--match-contract', 'RouterInvariants'], { inherit: true, profile: 'long' })
  if (code !== 0) throw new StepError('The contracts broke an invariant; the calls that led there are above.')
}

await setUp()
  .then(tortureContracts)
  .then(() => runTool('tests/torture/main.ts', process.argv.slice(2)))
  .catch(fail)
