// Looks for a router's address on chains where none of ours should stand, and on those where one should: docs/operating/watch.md. Ends with 1 when
// something is wrong, and with 2 when a chain could not be asked.
import { parseArgs } from 'node:util'
import { contracts, providerOf, require, run } from './chain.mjs'

const { FetchRequest, isAddress } = require('ethers')

const USAGE = 'usage: npm run survey-router -- --router 0x… [--router 0x…] https://… [https://…]   one node of each chain'
const WAIT_MS = 15_000

async function openChain(url) {
  // Not by ethers, which tries a dead node again and again.
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
    signal: AbortSignal.timeout(WAIT_MS),
  })
  const { result } = await answer.json()
  const request = new FetchRequest(url)
  request.timeout = WAIT_MS
  return providerOf(request, BigInt(result), {})
}

async function survey(url, router) {
  const provider = await openChain(url)
  return contracts.surveyRouter(provider, router).finally(() => provider.destroy())
}

async function main() {
  const { values, positionals } = parseArgs({ options: { router: { type: 'string', multiple: true } }, allowPositionals: true })
  const routers = values.router ?? []
  if (routers.length === 0 || positionals.length === 0 || !routers.every(router => isAddress(router))) throw new Error(USAGE)
  const codes = [0]
  for (const url of positionals) {
    for (const router of routers) {
      try {
        const { chainId, chain, isDeployed, finding } = await survey(url, router)
        if (finding !== null) codes.push(1)
        const found = finding ?? (isDeployed ? 'the router, as it must be' : 'nothing')
        console.log(`${finding === null ? 'ok   ' : 'WRONG'} chain ${chainId} (${chain ?? 'not listed'}) ${router}: ${found}`)
      } catch (error) {
        codes.push(2)
        console.log(`?     ${new URL(url).host} ${router}: ${error.message}`)
      }
    }
  }
  process.exitCode = codes.includes(1) ? 1 : Math.max(...codes)
}

run(main, 2)
