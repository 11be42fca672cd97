import { fail } from '../develop/steps.mjs'
import { ask, opsUrls } from './ops-ports.mjs'

// Has the services that keep sealed secrets seal them by the first of their SEAL_KEYs (docs/operating/rotate.md): npm run reseal
async function main() {
  for (const [service, url] of Object.entries(opsUrls(['api-gateway', 'webhook-dispatcher']))) {
    const { resealed, keys } = await ask(url, '/reseal', { method: 'POST', signal: AbortSignal.timeout(600_000) })
    console.log(`${service}: ${resealed} secrets were sealed anew; it has ${keys} ${keys === 1 ? 'key' : 'keys'}.`)
  }
}

await main().catch(fail)
