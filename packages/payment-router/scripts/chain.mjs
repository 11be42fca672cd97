import { createRequire } from 'node:module'

export const require = createRequire(import.meta.url)
const { JsonRpcProvider, Network } = require('ethers')

export const contracts = require('../dist/index.js')
export const print = (what, value) => console.log(`${what.padEnd(26)} ${value}`)

/** Without a name that ethers knows: it asks a gas station for prices on some known networks. */
export const providerOf = (connection, chainId, options = { cacheTimeout: -1 }) =>
  new JsonRpcProvider(connection, new Network('chain', chainId), { staticNetwork: true, ...options })

export async function openChain(url) {
  const asked = new JsonRpcProvider(url)
  const chainId = Number(await asked.send('eth_chainId', []))
  asked.destroy()
  return { chainId, provider: providerOf(url, chainId) }
}

/** The token that is named on a development chain, else that of the list. */
export function tokenOn(chainId, { development, token }) {
  const usdcAddress = development ? token : contracts.supportedChains[chainId]?.usdcAddress
  if (usdcAddress === undefined) throw new Error(`chain ${chainId} is not on the list of supported chains`)
  return usdcAddress
}

/** Ends the process, whatever a provider still polls. */
export const run = (main, failure = 1) =>
  main()
    .catch(error => {
      console.error(error.message)
      process.exitCode = failure
    })
    .finally(() => setImmediate(() => process.exit()))
