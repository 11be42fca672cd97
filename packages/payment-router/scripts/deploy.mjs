// Deploys a router on one chain and verifies it: docs/deploying-contracts.md. Without --send it only prints what it would do.
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'

const require = createRequire(import.meta.url)
const { JsonRpcProvider, keccak256, Network, Wallet } = require('ethers')
const contracts = require('../dist/index.js')

const USAGE = `usage: RPC_URL=… DEPLOYER_PRIVATE_KEY=0x… npm run deploy-router -- --fee-bps 100 --fee-receiver 0x… [--salt 0x…] [--send]
       --development --token 0x…   on a chain of your own, which is not on the list of supported ones`

function options() {
  const { values } = parseArgs({
    options: {
      'fee-bps': { type: 'string' },
      'fee-receiver': { type: 'string' },
      salt: { type: 'string' },
      token: { type: 'string' },
      development: { type: 'boolean', default: false },
      send: { type: 'boolean', default: false },
    },
  })
  const { RPC_URL: rpcUrl, DEPLOYER_PRIVATE_KEY: key } = process.env
  const { 'fee-bps': feeBps, 'fee-receiver': feeReceiver, salt, token, development, send } = values
  if (!rpcUrl || !key || !/^\d+$/.test(feeBps ?? '') || !feeReceiver || (development && !token)) throw new Error(USAGE)
  return { rpcUrl, key, feeBps: Number(feeBps), feeReceiver, salt, token, development, send }
}

const print = (what, value) => console.log(`${what.padEnd(26)} ${value}`)

async function openChain({ rpcUrl, key, token, development }) {
  const asked = new JsonRpcProvider(rpcUrl)
  const chainId = Number(await asked.send('eth_chainId', []))
  asked.destroy()
  // Without a name that ethers knows: it asks a gas station for prices on some known networks.
  const provider = new JsonRpcProvider(rpcUrl, new Network('chain', chainId), { staticNetwork: true, cacheTimeout: -1 })
  const listed = contracts.supportedChains[chainId]
  const usdcAddress = development ? token : listed?.usdcAddress
  if (usdcAddress === undefined) throw new Error(`chain ${chainId} is not on the list of supported chains`)
  return { provider, chainId, name: development ? 'a development chain' : listed.name, usdcAddress, signer: new Wallet(key, provider) }
}

async function main() {
  const terms = options()
  const { provider, chainId, name, usdcAddress, signer } = await openChain(terms)
  const { feeBps, feeReceiver, salt, development } = terms
  const routerAddress = contracts.routerAddress({ deployer: signer.address, feeBps, feeReceiver, salt })
  print('chain', `${chainId}, ${name}`)
  print('USDC', usdcAddress)
  print('deployer', signer.address)
  print('fee', `${feeBps} basis points to ${feeReceiver}`)
  print('factory', contracts.factoryAddress(signer.address))
  print('router', routerAddress)
  await contracts.verifyToken(provider, { chainId, usdcAddress, development })
  print('chain and token', 'verified')
  if (!terms.send) return console.log('Nothing was sent. Add --send to deploy.')

  const before = await provider.getBlockNumber()
  const stood = (await provider.getCode(routerAddress)) !== '0x'
  await contracts.deployRouter(signer, { usdcAddress, feeBps, feeReceiver, ...(salt === undefined ? {} : { salt }) })
  print('deployment', stood ? 'stands already' : `mined; START_BLOCK=${before}`)
  const expected = { chainId, usdcAddress, routerAddress, feeBps, feeReceivers: [feeReceiver], development }
  await contracts.verifyDeployment(provider, expected)
  print('router and implementation', 'verified')
  print('router code hash', keccak256(await provider.getCode(routerAddress)))
  print('implementation', contracts.depositImplementation(routerAddress))
  const sweep = await contracts.testSweep(signer, { usdcAddress, routerAddress }, memo => print('test sweep, memo', memo))
  print('test sweep', `${sweep.txHash}, ${sweep.gasUsed} gas`)
  console.log('The addresses of this router may be published.')
}

main()
  .catch(error => {
    console.error(error.message)
    process.exitCode = 1
  })
  // A provider keeps polling otherwise.
  .finally(() => setImmediate(() => process.exit()))
