// Sweeps a deposit that was sent on another chain than the order's: docs/deploying-contracts.md. Without --send it only prints what it would do.
import { parseArgs } from 'node:util'
import { contracts, openChain, print, require, run, tokenOn } from './chain.mjs'

const { Contract, Wallet } = require('ethers')

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

async function main() {
  const { homeUrl, otherUrl, key, router, memo, merchant, token, development, send } = options()
  const [home, other] = [await openChain(homeUrl), await openChain(otherUrl)]
  const usdcAddress = tokenOn(other.chainId, { development, token })
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

run(main)
