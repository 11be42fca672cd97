import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { root, setUp } from '../develop/setup.mjs'
import { fail, StepError } from '../develop/steps.mjs'

// What proves more by running longer, for five minutes or so: npm run long -- <name> [seed] [count, of thief and days]. `--in-turn` takes the form and the seed from the commit, so that
// each is run by one commit after another.

const BOUND_MS = Number(process.env.PONTE_LONG_MINUTES ?? 15) * 60_000
const services = ['api-gateway', 'orders', 'subscriptions', 'chain-listener', 'webhook-dispatcher']

const test = (file, env = {}) => ({ script: 'test.mjs', args: [file], env })
const long = (name, env = {}) => ({ script: 'long-form.mjs', args: [name], env })
const forms = {
  simulation: seed => ({
    script: 'simulation.mjs',
    args: ['--seeds', '5', '--from', `${5 * seed - 4}`, '--networks', `${1 + (seed % 3)}`, '--orders', seed % 3 === 2 ? '20' : '60'],
  }),
  messages: seed => ({ script: 'simulation.mjs', args: ['messages', '--seeds', '4', '--from', `${4 * seed - 3}`] }),
  plans: seed => test('tests/simulation/plans/plans', { PONTE_PLAN_YEARS: '10000', PONTE_PLAN_FROM: seed }),
  days: (seed, count = 300) => test('tests/days', { PONTE_DAYS: String(count), PONTE_DAYS_SEED: seed }),
  properties: () => test('order.property|subscription/subscription.test', { PONTE_PROPERTY_CASES: '20000', PONTE_TEST_STORIES: '10000' }),
  fuzz: seed => test('tests/fuzz', { FUZZ_REQUESTS: '8000', FUZZ_SEED: seed }),
  thief: (seed, count = 1_000) =>
    test('api-gateway/test/thief/thief-http', {
      ...{ PONTE_THIEF_SEQUENCES: String(count), PONTE_THIEF_FROM: String(seed * count) },
      // What a request leaves behind is gone before it would be copied.
      NODE_OPTIONS: '--max-semi-space-size=64',
    }),
  siege: () => ({ script: 'bench.mjs', args: ['siege', '--', '--minutes', '4', '--alone', '1'] }),
  torture: seed => ({
    script: 'torture.mjs',
    args: ['--minutes', '5', '--seed', seed, '--networks', String(1 + (seed % 3)), '--restores', 'none'],
  }),
  restores: seed => ({ script: 'torture.mjs', args: ['--minutes', '1', '--seed', seed, '--restores', services[seed % services.length]] }),
  images: () => test('tests/tree/image', { PONTE_TEST_IMAGES: '1' }),
  charges: () => test('orders/test/charges/withdrawn-while-waiting', { PONTE_TEST_CHARGE_PAIRS: '10000' }),
  chain: () => test('chain-listener/test/(deposits-)?model', { PONTE_CHAIN_SEEDS: '15' }),
  explore: () => long('explore/wide/*'),
  spec: seed => long('spec/long/*', { PONTE_SPEC_IN_SERVICE: '100', ...process.env, PONTE_SPEC_SEED: seed }),
  crashes: () => test('service-kit/test/bus/crash-schedules', { PONTE_CRASH_SCHEDULES: 'all' }),
  silences: () => long('system/operator/silences'),
  pictures: () => long('system/pages/pictures/pictures'),
  outages: () => long('system/{relayer-killed,subscription-broker-away,operator/restored-database}'),
  nodes: () => long('scan/nodes-matrix'),
  pages: () => long('system/pages/{dashboard,roles,reach}'),
  people: () => long('system/{credentials,pages/{merchant-work,networks,misfits,refunds,login}}'),
  guides: () => long('system/guides/{guides,first-use}'),
  alerts: () => long('tree/alerts'),
  planted: () => long('{torture/planted,system/operator/reconcile}'),
}
const names = Object.keys(forms)
const counted = ['thief', 'days']

function wanted([name = '', seed = '1', count]) {
  if (name === '--in-turn') {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' })
    const number = Number.parseInt(commit.slice(0, 8), 16)
    return { name: names[number % names.length], seed: String(1 + (number % 100_000)) }
  }
  const isCount = count === undefined || (counted.includes(name) && /^[1-9]\d*$/.test(count))
  if (!names.includes(name) || !/^[1-9]\d*$/.test(seed) || !isCount)
    throw new StepError(`npm run long -- ${names.join(' | ')} [seed] [count, of ${counted.join(' and ')}], or --in-turn`)
  return { name, seed, ...(count ? { count: Number(count) } : {}) }
}

async function main() {
  const { name, seed, count } = wanted(process.argv.slice(2))
  await setUp()
  const { script, args, env } = forms[name](seed, count)
  console.log(`The long form of ${name}: npm run long -- ${[name, seed, count].filter(Boolean).join(' ')}`)
  const boundMs = BOUND_MS * Math.max(1, (count ?? 0) / 1_000)
  const child = spawn(process.execPath, [`scripts/test/${script}`, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  const bound = setTimeout(() => child.kill(), boundMs)
  const [code, signal] = await once(child, 'exit')
  clearTimeout(bound)
  if (signal) throw new StepError(`${name} was ended by ${signal}; a long form has ${boundMs / 60_000} minutes.`)
  process.exitCode = code
}

await main().catch(fail)
