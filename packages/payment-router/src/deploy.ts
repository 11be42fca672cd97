import { setTimeout } from 'node:timers/promises'
import { Interface, type InterfaceAbi, type Signer } from 'ethers'
import { paymentRouterAbi, paymentRouterBytecode } from './artifacts/payment-router'
import { testRateFeedAbi, testRateFeedBytecode } from './artifacts/test-rate-feed'
import { testUsdcAbi, testUsdcBytecode } from './artifacts/test-usdc'

export interface RouterTerms {
  /** The token that payments are made in. */
  usdcAddress: string
  /** Basis points, 0 to 1,000 (10 %). */
  feeBps: number
  /** Where the fee goes. */
  feeReceiver: string
}

export interface DeployOptions {
  feeBps: number
  feeReceiver: string
  /** Dollars per real with eight decimals; 18,450,184 by default, which is 5.42 reais to the dollar. */
  brlUsd?: bigint
}

export interface DeployedContracts {
  usdcAddress: string
  routerAddress: string
  rateFeedAddress: string
}

const BRL_USD = 18_450_184n

interface Artifact {
  abi: InterfaceAbi
  bytecode: string
}

const router: Artifact = { abi: paymentRouterAbi, bytecode: paymentRouterBytecode }
const testUsdc: Artifact = { abi: testUsdcAbi, bytecode: testUsdcBytecode }
const testRateFeed: Artifact = { abi: testRateFeedAbi, bytecode: testRateFeedBytecode }

const POLL_MS = 100

async function deploy(signer: Signer, nonce: number, { abi, bytecode }: Artifact, terms: readonly unknown[]): Promise<string> {
  const { provider } = signer
  if (provider === null) throw new Error('deploying needs a signer that is connected to a provider')
  const { hash } = await signer.sendTransaction({ nonce, data: `${bytecode}${Interface.from(abi).encodeDeploy(terms).slice(2)}` })
  // The provider's own waiting looks every four seconds, too slow for a chain that mines at once.
  let receipt = await provider.getTransactionReceipt(hash)
  while (receipt === null) {
    await setTimeout(POLL_MS)
    receipt = await provider.getTransactionReceipt(hash)
  }
  if (receipt.status !== 1 || receipt.contractAddress === null) throw new Error(`the deployment in transaction ${hash} failed`)
  return receipt.contractAddress
}

/**
 * Deploys a PaymentRouter for a token that exists and answers its address once it is mined. What is given here can never be changed.
 * Rejects with ethers' CALL_EXCEPTION when the router refuses the terms (no token there, a fee above 10 %, a zero fee receiver).
 */
export async function deployRouter(signer: Signer, terms: RouterTerms): Promise<string> {
  const nonce = await signer.getNonce('pending')
  return deploy(signer, nonce, router, [terms.usdcAddress, terms.feeBps, terms.feeReceiver])
}

/**
 * Deploys everything a local chain needs, in this order: TestUSDC, a PaymentRouter for it, TestRateFeed. Anyone may mint that
 * token and set that rate, so it is for chains without real money; there, the addresses follow from the signer and its nonce.
 */
export async function deployContracts(signer: Signer, options: DeployOptions): Promise<DeployedContracts> {
  // Counted on from here, because a provider remembers its answers for a moment and would give the same nonce twice.
  const nonce = await signer.getNonce('pending')
  const usdcAddress = await deploy(signer, nonce, testUsdc, [])
  const routerAddress = await deploy(signer, nonce + 1, router, [usdcAddress, options.feeBps, options.feeReceiver])
  const rateFeedAddress = await deploy(signer, nonce + 2, testRateFeed, [options.brlUsd ?? BRL_USD])
  return { usdcAddress, routerAddress, rateFeedAddress }
}
