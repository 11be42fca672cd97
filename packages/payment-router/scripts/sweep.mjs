// Sweeps a deposit that was sent on another chain than the order's: docs/deploying-contracts.md. Without --send it only prints what it would do.
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'

const require = createRequire(import.meta.url)
const { Contract, JsonRpcProvider, Network, Wallet } = require('ethers')
const contracts = require('../dist/index.js')

const USAGE = `usage: HOME_RPC_URL=… RPC_URL=… SWEEPER_PRIVATE_KEY=0x… npm run sweep-deposit -- --router 0x… --memo 0x… --merchant 0x… [--send]
       HOME_RPC_URL is a node of the order's chain, RPC_URL one of the chain that has the money
       --development --token 0x…   on a chain of your own, which is not on the list of supported ones`

function options() {
  const text = { type: 'string' }
  const { values } = parseArgs({
    options: {
      ...{ router: text, memo: text, merchant: text, token: text },
      ...{ development: { type: 'boolean', default: false }, send: { type: 'boolean', default: false } },
    },
  })
  const { HOME_RPC_URL: homeUrl, RPC_URL: otherUrl, SWEEPER_PRIVATE_KEY: key } = process.env
  const { router, memo, merchant, token, development, send } = values
  if (!homeUrl || !otherUrl || !key || !router || !memo || !merchant || (development && !token)) throw new Error(USAGE)
  return { homeUrl, otherUrl, key, router, memo, merchant, token, development, send }
}

const print = (what, value) => console.log(`${what.padEnd(26)} ${value}`)

async function openChain(url) {
  const asked = new JsonRpcProvider(url)
  const chainId = Number(await asked.send('eth_chainId', []))
  asked.destroy()
  // Without a name that ethers knows: it asks a gas station for prices on some known networks.
  return { chainId, provider: new JsonRpcProvider(url, new Network('chain', chainId), { staticNetwork: true, cacheTimeout: -1 }) }
}

async function main() {
  const { homeUrl, otherUrl, key, router, memo, merchant, token, development, send } = options()
  const [home, other] = [await openChain(homeUrl), await openChain(otherUrl)]
  const usdcAddress = development ? token : contracts.supportedChains[other.chainId]?.usdcAddress
  if (usdcAddress === undefined) throw new Error(`chain ${other.chainId} is not on the list of supported chains`)
  print('home chain', home.chainId)
  print('chain of the money', other.chainId)
  const terms = { usdcAddress, routerAddress: router, memo, merchant, development }
  const { depositAddress, amount, refusal } = await contracts.inspectStrayDeposit({ home, other }, terms)
  print('router', `${router}, verified`)
  print('deposit address', depositAddress)
  print('it holds, in token units', amount)
  print('payout address', merchant)
  if (refusal !== null) throw new Error(`not swept: ${refusal}`)
  if (!send) return console.log('Nothing was sent. Add --send to sweep.')
  const sweeper = new Contract(router, contracts.paymentRouterAbi, new Wallet(key, other.provider))
  const receipt = await (await sweeper.getFunction('sweep').send(memo, merchant)).wait()
  print('swept', `${receipt.hash}, ${receipt.gasUsed} gas`)
}

main()
  .catch(error => {
    console.error(error.message)
    process.exitCode = 1
  })
  // A provider keeps polling otherwise.
  .finally(() => setImmediate(() => process.exit()))
