import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { PROXY, startTraffic } from './docker-installation.mjs'

// Done by npm run docker-trial to an installation beside the blocks of its pages, while orders are made and paid: kills, and the rotation of docs/operating/rotate.md.

const CHAIN = 'http://127.0.0.1:8545'
const PAID_EVERY = 8
const PLENTY = 10n ** 15n
const MINT = '0x40c10f19'
const TRANSFER = '0xa9059cbb'
/** Owners before the gateway, whose requests they have to understand, and the relayer after its listener. */
export const SERVICES = ['webhook-dispatcher', 'orders', 'subscriptions', 'chain-listener', 'relayer', 'api-gateway']
const DATABASES = ['api_gateway', 'orders', 'subscriptions', 'chain_listener', 'webhook_dispatcher']
const TOKENS = ['ORDERS_TOKEN_SECRET', 'SUBSCRIPTIONS_TOKEN_SECRET', 'WEBHOOKS_TOKEN_SECRET', 'CHAIN_LISTENER_TOKEN_SECRET', 'SEAL_KEY']
/** Their state is in their memory, and no installation with real money has them. */
const AIDS = ['chain', 'contracts', 'development']

const word = value => BigInt(value).toString(16).padStart(64, '0')
const random = () => randomBytes(32).toString('hex')

export async function askChain(method, params = []) {
  const response = await fetch(CHAIN, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = await response.json()
  if (error) throw new Error(error.message)
  return result
}

/** A payer with an account of the local chain, which signs for it. */
async function openPayer() {
  const from = (await askChain('eth_accounts'))[6]
  const send = (to, data) => askChain('eth_sendTransaction', [{ from, to, data }])
  const minted = new Set()
  return async ({ payment: { token_address: token, deposit_address: address }, usdc_amount: amount }) => {
    if (!minted.has(token)) await send(token, `${MINT}${word(from)}${word(PLENTY)}`)
    minted.add(token)
    await send(token, `${TRANSFER}${word(address)}${word(amount.replace('.', ''))}`)
  }
}

/** Does `work` under traffic, and adds to what it finds wrong each payment that was not counted, and what the audit names. */
export async function withPayments({ apiKey, compose, becomes }, work) {
  const pay = await openPayer()
  const paid = []
  let count = 0
  const traffic = startTraffic(apiKey, async order => {
    if (count++ % PAID_EVERY > 0) return
    await pay(order)
    paid.push(order.id)
  })
  const wrong = []
  try {
    await work(traffic, wrong)
  } finally {
    await traffic.stop()
  }
  const { made, failed } = traffic.counts()
  console.log(`   ${made} orders, ${failed} failed, ${paid.length} paid`)
  const waiting = new Set(paid)
  await becomes('payments were not counted', async () => {
    for (const id of waiting) {
      const response = await fetch(`${PROXY}/api/v1/orders/${id}`, { headers: { Authorization: `Bearer ${apiKey}` } })
      if (response.ok && (await response.json()).status === 'paid') waiting.delete(id)
    }
    return { done: waiting.size === 0, output: [...waiting].join('\n') }
  })
  const { code, output } = await compose('run', '--rm', '--no-TTY', 'ops', 'reconcile')
  return code === 0 ? wrong : [...wrong, output]
}

const containers = async ({ run }) =>
  (
    await run('docker', [
      'ps',
      '--format',
      '{{ .Names }} {{ .Label "com.docker.compose.service" }}',
      '--filter',
      'label=com.docker.compose.project=ponte',
    ])
  ).output
    .trim()
    .split('\n')
    .map(line => line.split(' '))
    .filter(([, service]) => !AIDS.includes(service))
    .sort()

export async function kill(installation) {
  const { run, allIsWell, becomes } = installation
  const docker = async (...args) => (await run('docker', args)).output.trim()
  const pidOf = name => docker('inspect', '--format', '{{ .State.Pid }}', name)
  return withPayments(installation, async traffic => {
    for (const [name] of await containers(installation)) {
      const before = traffic.counts()
      const since = Date.now()
      const pid = await pidOf(name)
      // A signal that the engine itself sends would count as an operator's stop, after which nothing is started again.
      await docker('run', '--rm', '--pid', 'host', '--privileged', '--entrypoint', 'bash', 'ponte/postgres:local', '-c', `kill -9 ${pid}`)
      await becomes(`${name} was not started again`, async () => {
        const now = await pidOf(name)
        return { done: now !== '0' && now !== pid, output: now }
      })
      await allIsWell()
      const after = traffic.counts()
      const figures = `${after.made - before.made} orders, ${after.failed - before.failed} failed`
      console.log(`   kill -9 of ${name}: well after ${Math.round((Date.now() - since) / 1000)} s, ${figures}`)
    }
  })
}

/** Three rollouts: the new secret is known, is used, and is alone. The wait of seven days between the last two is left out. */
export async function rotate(installation) {
  const { run, compose, set, folder, allIsWell } = installation
  const settings = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
  return withPayments(installation, async (traffic, wrong) => {
    const must = async (program, ...args) => {
      const { code, output } = await run(program, args)
      if (code !== 0) throw new Error(`${program} ${args.join(' ')}\n${output}`)
      return output
    }
    const sql = (database, statement) =>
      must(
        'docker',
        'compose',
        'exec',
        '--no-TTY',
        'postgres',
        'psql',
        '-U',
        'postgres',
        '-v',
        'ON_ERROR_STOP=1',
        '-c',
        statement,
        database,
      )
    const broker = command => must('docker', 'compose', 'exec', '--no-TTY', 'rabbitmq', 'bash', '-euc', command)
    const roll = async title => {
      const before = traffic.counts()
      const since = Date.now()
      for (const service of SERVICES) await must('infra/compose/ops', 'roll', service, '--yes')
      await allIsWell()
      const { made, failed } = traffic.counts()
      console.log(
        `   ${title}: ${Math.round((Date.now() - since) / 1000)} s, ${made - before.made} orders, ${failed - before.failed} failed`,
      )
      wrong.push(...traffic.failedSince(before.failed))
    }
    const secrets = Object.fromEntries(TOKENS.map(name => [name, { old: settings[name], new: random() }]))
    const tokens = write => set(Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, write(secret)])))

    const published = await fetch(`${PROXY}/api/v1/dossier-keys`)
    const [{ x }] = (await published.json()).keys
    set({ DOSSIER_FORMER_KEYS: x, DOSSIER_KEY: random() })
    for (const database of DATABASES) {
      const password = random()
      await sql(database, `CREATE ROLE ${database}_next LOGIN PASSWORD '${password}' IN ROLE ${database}`)
      await sql(database, `ALTER ROLE ${database}_next SET role = '${database}'`)
      set({ [`${database.toUpperCase()}_DB_USER`]: `${database}_next`, [`${database.toUpperCase()}_DB_PASSWORD`]: password })
    }
    const password = random()
    await broker(`rabbitmqctl add_user ponte-next ${password} && rabbitmqctl set_permissions --vhost / ponte-next '.*' '.*' '.*'`)
    set({ RABBITMQ_USER: 'ponte-next', RABBITMQ_PASSWORD: password })
    tokens(secret => `${secret.old},${secret.new}`)
    await roll('new keys are known; roles of the databases and the broker, and DOSSIER_KEY, are new')
    for (const database of DATABASES) await sql(database, `ALTER ROLE ${database} NOLOGIN PASSWORD NULL`)
    await broker('rabbitmqctl delete_user ponte')
    tokens(secret => `${secret.new},${secret.old}`)
    await roll('new keys are used')
    await compose('run', '--rm', '--no-TTY', 'ops', 'reseal')
    const { output } = await compose('run', '--rm', '--no-TTY', 'ops', 'reseal')
    if ([...output.matchAll(/: 0 secrets/g)].length < 2) wrong.push(output)
    tokens(secret => secret.new)
    await roll('new keys are alone')
  })
}

const ALERT_MS = 120_000
/** By what an alert has to name each server; of a service it is its own name. */
const NAMED = { postgres: 'PontePostgresAway', rabbitmq: 'PonteBrokerAway' }

/** One replica after another, and both servers, stands still in the middle, as on a machine that hangs. */
export async function pause(installation) {
  const { run, compose, allIsWell, becomes } = installation
  const firing = async () => {
    const ask = "fetch('http://prometheus:9090/api/v1/alerts').then(answer => answer.text()).then(console.log)"
    const { output } = await compose('run', '--rm', '--no-TTY', '--entrypoint', 'node', 'ops', '-e', ask)
    const { alerts } = JSON.parse(/^\{.*$/m.exec(output)?.[0] ?? '{"data":{"alerts":[]}}').data
    return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels)
  }
  const isNamed = service => labels => (NAMED[service] ? labels.alertname === NAMED[service] : Object.values(labels).includes(service))
  return withPayments(installation, async (traffic, wrong) => {
    for (const [name, service] of await containers(installation)) {
      if (!SERVICES.includes(service) && !NAMED[service]) continue
      await becomes(`${service} is named before it stands`, async () => {
        const labels = await firing()
        return { done: !labels.some(isNamed(service)), output: JSON.stringify(labels) }
      })
      // An engine that is just asking for its health does not always stop a container.
      await becomes(`${name} is not stopped`, async () => {
        const { code, output } = await run('docker', ['pause', name])
        return { done: code === 0, output }
      })
      const before = traffic.counts()
      const since = Date.now()
      const labels = await becomes(`no alert names ${name}`, async () => {
        const seen = await firing()
        return { done: (seen.some(isNamed(service)) || Date.now() - since > 2 * ALERT_MS) && seen }
      })
      const named = Date.now() - since
      const { made, failed } = traffic.counts()
      await run('docker', ['unpause', name])
      const again = Date.now()
      const faults = await allIsWell()
      console.log(
        `   ${name} stood still: ${[...new Set(labels.map(({ alertname }) => alertname))].join()} after ${Math.round(named / 1000)} s, ${made - before.made} orders, ${failed - before.failed} failed; well ${Math.round((Date.now() - again) / 1000)} s after it went on${faults && ` (last: ${faults})`}`,
      )
      if (named > ALERT_MS) wrong.push(`${name} was named after ${named} ms`)
    }
  })
}

/** From the backups that were made since their passphrase changed (docs/operating/rotate.md), and taken back, with nothing made meanwhile. */
export async function restore({ run, compose, allIsWell }) {
  const moment = `${new Date().toISOString().slice(0, 19).replace('T', ' ')}+00`
  await new Promise(resolve => setTimeout(resolve, 5_000))
  for (const command of [
    ['restore-one', 'orders', moment],
    ['restore-back', 'orders'],
    ['restore-done', 'orders'],
  ]) {
    const { code, output } = await run('infra/compose/ops', [...command, '--yes'])
    if (code !== 0) return [output]
  }
  await allIsWell()
  const { code, output } = await compose('run', '--rm', '--no-TTY', 'ops', 'reconcile')
  return code === 0 ? [] : [output]
}
