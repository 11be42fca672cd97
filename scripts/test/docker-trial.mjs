import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runOnPinnedNode } from '../develop/runtime.mjs'
import { root } from '../develop/setup.mjs'
import { fail, StepError } from '../develop/steps.mjs'
import { faults as stages } from './docker-faults.mjs'

// Runs every fenced block of infra/compose/README.md and docs/operating from the Markdown, in a clone of the last commit, under a container engine, while orders are made through the proxy:
// npm run docker-trial. Then each container's process is killed, and each secret changed, while orders are made and paid. An hour with the builds of all images; --only TEXT leaves out what has not that
// text in its document or name, except the blocks that start what the others need.

await runOnPinnedNode().catch(fail)

const README = 'infra/compose/README.md'
const documents = [README, ...readdirSync(join(root, 'docs/operating')).map(name => `docs/operating/${name}`)]
const MOMENT = '2026-11-22 14:00:00+00'

const ON_KUBERNETES = 'needs a cluster'
const SHOWN = 'no command: what a program prints or a form takes'
/** By how a block begins: why it is not run here, or where it runs. What is not named runs on this machine. */
const ELSEWHERE = {
  'kubectl -n ponte exec deploy/ops -- node ops.mjs reconcile': ON_KUBERNETES,
  'bootstrap: { recovery:': ON_KUBERNETES,
  'npm run bench -- outages': 'hours, on servers of its own',
  'npm run survey-router -- --router 0x…': 'asks public nodes about a router with real money',
  'Confirm signup ': SHOWN,
  'chain-listener: chain.blocks': SHOWN,
  'api-gateway: POST /api/v1/merchants': SHOWN,
  'SELECT pid, usename,': { database: 'orders' },
  'SELECT subscription_id,': { database: 'subscriptions' },
  'SELECT merchant, kind,': { database: 'chain_listener' },
  'SELECT merchant_id,': { database: 'orders' },
  'SELECT count(*) FROM orders JOIN order_networks': { database: 'orders' },
  'CREATE ROLE orders_2': { database: 'orders' },
  'rabbitmqctl ': { service: 'rabbitmq' },
}

/** An operator's answers to what the README has changed in .env, for a local chain. */
const SETTINGS = {
  COMPOSE_PROFILES: 'dev',
  PUBLIC_URL: 'https://localhost',
  NODE_ENV: 'production',
  WEBHOOK_ALLOW_CIDRS: '',
  API_GATEWAY_REPLICAS: '2',
  ORDERS_REPLICAS: '2',
  ALERT_MAIL_TO: 'operator@example.com',
  ALERT_MAIL_FROM: 'ponte@example.com',
  ALERT_SMTP_HOST: 'mail.example.com:587',
  ALERT_WEBHOOK_URL: 'http://127.0.0.1:9/',
  HEARTBEAT_URL: 'http://127.0.0.1:9/',
}
/** Of docs/operating/networks.md: a second local chain, with the same contracts at the same addresses. */
const SECOND_CHAIN = 'chain-2'
const SECOND_NETWORK = {
  COMPOSE_PROFILES: 'dev,network-2',
  NETWORK_2_CHAIN_ID: '31338',
  NETWORK_2_RPC_URLS: `http://${SECOND_CHAIN}:8545`,
}
const SAME_THERE = {
  ROUTER_ADDRESS: 'NETWORK_2_ROUTER_ADDRESSES',
  TOKEN_ADDRESS: 'NETWORK_2_TOKEN_ADDRESS',
  RELAYER_PRIVATE_KEY: 'NETWORK_2_RELAYER_PRIVATE_KEY',
  GASLESS_PRIVATE_KEY: 'NETWORK_2_GASLESS_PRIVATE_KEY',
}
const PROXY = 'https://localhost'
const READY_MS = 600_000
const EVERY_MS = 250

const blocksOf = document =>
  [...readFileSync(join(root, document), 'utf8').matchAll(/^( *)```\w*\n([\s\S]*?)^ *```$/gm)].map(([, indent, text]) => ({
    document,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }))

function requireEngine() {
  const asked = spawnSync('docker', ['compose', 'version', '--short'], { encoding: 'utf8' })
  const engine = spawnSync('docker', ['info', '--format', '{{ .ServerVersion }}'], { encoding: 'utf8' })
  if (asked.status !== 0 || engine.status !== 0)
    throw new StepError(
      `No container engine answers. Install Docker Engine with Compose 2.24.4 or newer (https://docs.docker.com/engine/install), or name one by DOCKER_HOST. ${engine.stderr ?? ''}`,
    )
  const running = execFileSync('docker', ['ps', '--all', '--quiet', '--filter', 'label=com.docker.compose.project=ponte'], {
    encoding: 'utf8',
  })
  if (running !== '')
    throw new StepError('An installation of Ponte is on this engine already; the trial would replace it. Name another engine.')
  console.log(`Docker ${engine.stdout.trim()}, Compose ${asked.stdout.trim()}`)
}

/** Orders made one after another as a merchant's server does, without a key to repeat them by; what was not answered with 201 is kept. */
function startTraffic(apiKey, onOrder = async () => undefined) {
  const failed = []
  let made = 0
  let isOn = true
  const order = () =>
    fetch(`${PROXY}/api/v1/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: '{"brl_amount":"150.00"}',
      signal: AbortSignal.timeout(30_000),
    })
  const send = async () => {
    made++
    const at = new Date().toISOString()
    try {
      const response = await order()
      const text = await response.text()
      if (response.status === 201) await onOrder(JSON.parse(text))
      else failed.push(`${at} ${response.status} ${text}`)
    } catch (error) {
      failed.push(`${at} ${error.cause?.message ?? error.message}`)
    }
  }
  const sending = (async () => {
    while (isOn) {
      void send()
      await new Promise(resolve => setTimeout(resolve, EVERY_MS))
    }
  })()
  return {
    counts: () => ({ made, failed: failed.length }),
    failedSince: count => failed.slice(count),
    async stop() {
      isOn = false
      await sending
    },
  }
}

async function main() {
  const only = process.argv[2] === '--only' ? process.argv[3] : undefined
  const blocks = documents.flatMap(blocksOf)
  const begins = key => blocks.some(({ text }) => text.startsWith(key))
  const unneeded = Object.keys(ELSEWHERE).filter(key => !begins(key))
  if (unneeded.length > 0) throw new StepError(`No block begins so any more: ${unneeded.join('; ')}`)
  requireEngine()

  const folder = join(mkdtempSync(join(tmpdir(), 'ponte-docker-')), 'ponte')
  execFileSync('git', ['clone', '--quiet', root, folder])
  const env = { ...process.env }
  const run = async (program, args) => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    const [code] = await once(child, 'close')
    return { code, output }
  }
  const set = settings => {
    const path = join(folder, '.env')
    const kept = readFileSync(path, 'utf8')
      .split('\n')
      .filter(line => !Object.hasOwn(settings, line.split('=')[0]))
    writeFileSync(path, [...kept, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`), ''].join('\n'))
  }
  const compose = (...args) => run('docker', ['compose', ...args])
  const startSecondNetwork = async () => {
    const anvil = [
      'packages/local-servers/node_modules/.bin/anvil',
      '--host',
      '0.0.0.0',
      '--chain-id',
      '31338',
      '--mixed-mining',
      '-b',
      '1',
    ]
    await compose('run', '--detach', '--no-deps', '--name', SECOND_CHAIN, '--entrypoint', anvil[0], 'chain', ...anvil.slice(1))
    const there = ['--env', `RPC_URL=http://${SECOND_CHAIN}:8545`, '--env', 'CHAIN_ID=31338']
    await compose('run', '--rm', '--no-deps', '--no-TTY', ...there, 'contracts')
    const lines = readFileSync(join(folder, '.env'), 'utf8').split('\n')
    const settingOf = name => lines.find(line => line.startsWith(`${name}=`))?.slice(name.length + 1)
    const [router, token] = ['ROUTER_ADDRESS', 'TOKEN_ADDRESS'].map(settingOf)
    const offered = [
      {
        ...{ network: 'anvil-31338', chain_id: 31_338, rpc_urls: [SECOND_NETWORK.NETWORK_2_RPC_URLS], token_address: token },
        ...{ router_address: router, deposit_factory: router, confirmations: 1 },
      },
    ]
    set({
      ...SECOND_NETWORK,
      ...Object.fromEntries(Object.entries(SAME_THERE).map(([here, name]) => [name, settingOf(here)])),
      OTHER_NETWORKS: `'${JSON.stringify(offered)}'`,
    })
  }
  const endSecondNetwork = async () => {
    set({ COMPOSE_PROFILES: 'dev', NETWORK_2_CHAIN_ID: '', OTHER_NETWORKS: '' })
    await run('infra/compose/ops', ['roll', 'orders', '--yes'])
    await run('docker', ['rm', '--force', SECOND_CHAIN])
  }
  const becomes = async (what, look) => {
    const until = Date.now() + READY_MS
    for (;;) {
      const found = await look()
      if (found.done) return found.done
      if (Date.now() > until) throw new StepError(`${what}:\n${found.output}`)
      await new Promise(resolve => setTimeout(resolve, 3_000))
    }
  }
  const allIsWell = () =>
    becomes('status is not well', async () => {
      const { code, output } = await compose('run', '--rm', '--no-TTY', 'ops', 'status')
      return { done: code === 0, output }
    })

  let traffic
  let apiKey
  let moment = MOMENT
  const commandOf = (where, text) => {
    const script = text.replaceAll(MOMENT, moment).replaceAll(/'T'/g, `'${moment}'`)
    if (where?.database)
      return [
        'docker',
        ['compose', 'exec', '--no-TTY', 'postgres', 'psql', '-U', 'postgres', '-v', 'ON_ERROR_STOP=1', '-c', script, where.database],
      ]
    if (where?.service) return ['docker', ['compose', 'exec', '--no-TTY', where.service, 'bash', '-euc', script]]
    // Answers the question that a command puts before it destroys.
    return ['bash', ['-euo', 'pipefail', '-c', script.replaceAll(/^(infra\/compose\/ops [^#\n]*?)(?= *(?:#.*)?$)/gm, '$1 --yes')]]
  }

  const faults = []
  try {
    for (const { document, text } of blocks) {
      const [first = ''] = text.split('\n')
      const where = Object.entries(ELSEWHERE).find(([key]) => text.startsWith(key))?.[1]
      const title = `${document}: ${first.trim().slice(0, 90)}`
      if (typeof where === 'string') {
        console.log(`-  ${title} (${where})`)
        continue
      }
      if (only && document !== README && !document.includes(only)) continue
      if (text.includes('create-databases.sh chain_listener_2')) await startSecondNetwork()
      const [, files] = /^export COMPOSE_FILE=(\S+)/m.exec(text) ?? []
      if (files) env.COMPOSE_FILE = files
      const before = traffic?.counts()
      const started = Date.now()
      const { code, output } = await run(...commandOf(where, text))
      const counts = traffic?.counts()
      const lost = before && text.includes('ops roll') ? traffic.failedSince(before.failed) : []
      const figures = counts ? `, ${counts.made - before.made} orders, ${counts.failed - before.failed} failed` : ''
      console.log(`${code === 0 && lost.length === 0 ? '✓' : '✗'}  ${title}  ${Math.round((Date.now() - started) / 1000)} s${figures}`)
      if (code !== 0 || lost.length > 0) {
        faults.push(title)
        console.log([output.trim().split('\n').slice(-30).join('\n'), ...lost.slice(0, 10)].join('\n'))
      }
      if (text.startsWith('docker compose --profile network-2 stop')) await endSecondNetwork()
      if (text.startsWith('node infra/make-env.mjs')) set(SETTINGS)
      if (files && !traffic) {
        if (code !== 0) throw new StepError('It does not start; nothing else can be tried.')
        apiKey = await becomes('there is no merchant', async () => {
          const { output: log } = await compose('logs', '--no-log-prefix', 'development')
          return { done: /sk_(?:live|test)_[0-9a-f]{64}/.exec(log)?.[0], output: log }
        })
        await allIsWell()
        traffic = startTraffic(apiKey)
        await becomes('there is no backup', async () => {
          const info = await compose('exec', '--no-TTY', 'backup', 'pgbackrest', 'info')
          return { done: info.output.includes('full backup:'), output: info.output }
        })
        await new Promise(resolve => setTimeout(resolve, 5_000))
        moment = `${new Date().toISOString().slice(0, 19).replace('T', ' ')}+00`
        // The release that is rolled to: the same images by another name, as another build would make them.
        for (const service of ['api-gateway', 'orders', 'subscriptions', 'chain-listener', 'webhook-dispatcher', 'all-in-one', 'ops'])
          await run('docker', ['tag', `ponte/${service}:local`, `ponte/${service}:trial`])
        set({ PONTE_VERSION: 'trial' })
      }
    }
    await traffic?.stop()
    traffic = undefined
    for (const [title, stage] of Object.entries(stages)) {
      if (only && !title.includes(only)) continue
      const wrong = await stage({ run, compose, set, allIsWell, becomes, folder, apiKey, startTraffic, proxy: PROXY })
      console.log(`${wrong.length === 0 ? '✓' : '✗'}  ${title}`)
      if (wrong.length > 0) {
        faults.push(title)
        console.log(wrong.slice(0, 10).join('\n'))
      }
    }
  } finally {
    await traffic?.stop()
    await compose('down', '--volumes', '--timeout', '5')
    rmSync(join(folder, '..'), { recursive: true, force: true })
  }
  if (faults.length > 0) throw new StepError(`Failed:\n${faults.join('\n')}`)
}

// The proxy's certificate for localhost is its own.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
await main().catch(fail)
