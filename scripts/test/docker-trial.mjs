import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runOnPinnedNode } from '../develop/runtime.mjs'
import { root } from '../develop/setup.mjs'
import { fail, StepError } from '../develop/steps.mjs'
import { kill, pause, restore, rotate } from './docker-faults.mjs'
import { PROXY, SETTINGS, startTraffic, withInstallation } from './docker-installation.mjs'
import { rotateIdentity, rotateRelayer } from './docker-keys.mjs'
import { upgrade } from './docker-upgrade.mjs'

// Runs every fenced block of infra/compose/README.md and docs/operating from the Markdown, in a clone of the last commit, under a container engine, while orders are made through the proxy:
// npm run docker-trial. Then each container's process is killed, and each secret changed, while orders are made and paid. An hour with the builds of all images; --only PATTERN leaves out what it does not
// match in document or name, except the blocks that start what the others need. --upgrade [COMMIT] instead starts an earlier release and upgrades it, and back (docker-upgrade.mjs).

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
const stages = {
  'kill -9 of each container': kill,
  'pause of each replica': pause,
  'rotation of each secret': rotate,
  "rotation of the identity provider's keys": rotateIdentity,
  "a restore after the rotation of the backups' passphrase": restore,
  "rotation of the relayer's keys, in KMS": rotateRelayer,
}

const blocksOf = document =>
  [...readFileSync(join(root, document), 'utf8').matchAll(/^( *)```\w*\n([\s\S]*?)^ *```$/gm)].map(([, indent, text]) => ({
    document,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }))

async function main() {
  if (process.argv[2] === '--upgrade') return upgrade(process.argv[3])
  const only = process.argv[2] === '--only' ? new RegExp(process.argv[3]) : undefined
  const blocks = documents.flatMap(blocksOf)
  const begins = key => blocks.some(({ text }) => text.startsWith(key))
  const unneeded = Object.keys(ELSEWHERE).filter(key => !begins(key))
  if (unneeded.length > 0) throw new StepError(`No block begins so any more: ${unneeded.join('; ')}`)
  const faults = await withInstallation(installation => tryPages(installation, blocks, only))
  if (faults.length > 0) throw new StepError(`Failed:\n${faults.join('\n')}`)
}

async function tryPages(installation, blocks, only) {
  const { folder, env, run, set, compose, becomes, allIsWell, findKey } = installation
  let offered
  const offer = changes => set({ OTHER_NETWORKS: `'${JSON.stringify(offered.map(one => ({ ...one, ...changes })))}'` })
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
    offered = [
      {
        ...{ network: 'anvil-31338', chain_id: 31_338, rpc_urls: [SECOND_NETWORK.NETWORK_2_RPC_URLS], token_address: token },
        ...{ router_address: router, deposit_factory: router, confirmations: 1 },
      },
    ]
    set({
      ...SECOND_NETWORK,
      ...Object.fromEntries(Object.entries(SAME_THERE).map(([here, name]) => [name, settingOf(here)])),
    })
    offer({})
  }
  const networksOfOrder = async () => {
    const response = await fetch(`${PROXY}/api/v1/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: '{"brl_amount":"150.00"}',
    })
    const { payment } = await response.json()
    // One that offers a single network names it as its own.
    return (payment.networks ?? [payment]).map(({ chain_id: id }) => id).join()
  }
  const endSecondNetwork = async () => {
    set({ COMPOSE_PROFILES: 'dev', NETWORK_2_CHAIN_ID: '', OTHER_NETWORKS: '' })
    await run('infra/compose/ops', ['roll', 'orders', '--yes'])
  }
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
      if (only && document !== README && !only.test(document)) continue
      if (text.includes('create-databases.sh chain_listener_2')) await startSecondNetwork()
      const isSuspension = document.endsWith('networks.md') && text === 'infra/compose/ops roll orders\n'
      if (isSuspension) offer({ suspended: true })
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
      if (isSuspension) {
        const suspended = await networksOfOrder()
        offer({})
        await run('infra/compose/ops', ['roll', 'orders', '--yes'])
        const goesOn = await networksOfOrder()
        console.log(`   suspended, a new order names ${suspended}; after it ${goesOn}`)
        if (suspended.includes('31338') || !goesOn.includes('31338')) faults.push(`${title}: suspended`)
      }
      if (text.startsWith('docker compose --profile network-2 stop')) await endSecondNetwork()
      if (text.startsWith('node infra/make-env.mjs')) set(SETTINGS)
      if (files && !traffic) {
        if (code !== 0) throw new StepError('It does not start; nothing else can be tried.')
        apiKey = await findKey()
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
      if (only && !only.test(title)) continue
      const wrong = await stage({ ...installation, apiKey })
      console.log(`${wrong.length === 0 ? '✓' : '✗'}  ${title}`)
      if (wrong.length > 0) {
        faults.push(title)
        console.log(wrong.slice(0, 10).join('\n'))
      }
    }
  } finally {
    await traffic?.stop()
    // In the project's name, so that the next trial would take it for an installation.
    await run('docker', ['rm', '--force', SECOND_CHAIN])
  }
  return faults
}

// The proxy's certificate for localhost is its own.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
await main().catch(fail)
