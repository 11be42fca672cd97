// Deploys a router on one chain and verifies it: docs/deploying-contracts.md. Without --send it only prints what it would do.
import { parseArgs } from 'node:util'
import { contracts, openChain, print, require, run, tokenOn } from './chain.mjs'

const { keccak256, Wallet } = require('ethers')

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

async function main() {
  const terms = options()
  const { feeBps, feeReceiver, salt, development } = terms
  const { provider, chainId } = await openChain(terms.rpcUrl)
  const usdcAddress = tokenOn(chainId, terms)
  const signer = new Wallet(terms.key, provider)
  const routerAddress = contracts.routerAddress({ deployer: signer.address, feeBps, feeReceiver, salt })
  print('chain', `${chainId}, ${development ? 'a development chain' : contracts.supportedChains[chainId].name}`)
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

run(main)
