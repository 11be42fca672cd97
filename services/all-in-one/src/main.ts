import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readConfig } from '@ponte/service-kit'
import { playSamplePayment, prepareDemoMerchant } from './demo'
import { DEMO_EMAIL, type Embedded, PAYER_ACCOUNT, startEmbedded } from './embedded'
import { claimFolder } from './folder-claim'
import { embeddedSettings } from './settings'
import { summary } from './summary'

const USAGE = 'npm start [-- --fresh]   --fresh forgets all data and starts anew'

async function main() {
  const args = process.argv.slice(2)
  const unknown = args.filter(arg => arg !== '--fresh')
  if (unknown.length > 0) throw new Error(`Unknown argument ${unknown[0]}. Usage: ${USAGE}`)
  const settings = readConfig(embeddedSettings, process.env)
  const folder = resolve(settings.PONTE_STATE_DIR ?? join(__dirname, '../../../.ponte'))
  const since = Date.now()
  const ready = join(folder, 'embedded.json')

  let embedded: Embedded | undefined
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= (async () => {
      console.log('\nStopping …')
      rmSync(ready, { force: true })
      await embedded?.stop()
    })()
    return stopping
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // A start that is under way finishes its stage first; the stop then undoes it.
      if (embedded) stop().then(() => process.exit(0), fail)
      else process.exit(signal === 'SIGINT' ? 130 : 143)
    })
  }

  const release = claimFolder(folder)
  process.on('exit', release)
  rmSync(ready, { force: true })
  embedded = await startEmbedded({ settings, folder, fresh: args.includes('--fresh'), onStage: stage => print(since, `starting ${stage}`) })
  const first = embedded.file.state.demoMerchant === undefined
  await prepareDemoMerchant(embedded)
  const sample = first ? await playSamplePayment(embedded, step => print(since, step)) : null
  writeFileSync(ready, `${JSON.stringify(description(embedded), null, 2)}\n`, { mode: 0o600 })
  console.log(summary(embedded, { sample, seconds: (Date.now() - since) / 1000, folder }))
}

function print(since: number, text: string) {
  console.log(`${((Date.now() - since) / 1000).toFixed(1).padStart(6)} s  ${text}`)
}

/** `.ponte/embedded.json`, for scripts (docs/architecture.md#run-modes). */
function description({ system, chain, otherChain, file, authUrl, receiverUrl }: Embedded) {
  const { state } = file
  return {
    gateway_url: system.gatewayUrl,
    auth_url: authUrl,
    public_client_key: state.publicClientKey,
    demo_user: { email: DEMO_EMAIL, password: state.demoPassword },
    demo_merchant: state.demoMerchant,
    receiver_url: receiverUrl,
    rpc_url: chain.rpcUrl,
    ws_url: chain.wsUrl,
    chain_id: chain.chainId,
    ...(otherChain ? { other_networks: [{ chain_id: otherChain.chainId, rpc_url: otherChain.rpcUrl }] } : {}),
    usdc_address: chain.usdcAddress,
    router_address: chain.routerAddress,
    payer_private_key: PAYER_ACCOUNT.privateKey,
    metrics_urls: Object.fromEntries(
      Object.entries({ ...system.opsUrls, ...system.otherOpsUrls }).map(([name, url]) => [name, `${url}/metrics`]),
    ),
    pid: process.pid,
  }
}

function fail(error: unknown): never {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`)
  if (process.env.LOG_LEVEL === 'debug') console.error(error)
  process.exit(1)
}

main().catch(fail)
