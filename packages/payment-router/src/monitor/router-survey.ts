import { Interface, isError, type JsonRpcProvider } from 'ethers'
import { paymentRouterAbi } from '../artifacts/payment-router'
import { routerCode } from '../deployment/runtime-code'
import { supportedChains } from '../deployment/supported-chains'

export interface RouterSurvey {
  chainId: number
  /** The name of a supported chain; null for another. */
  chain: string | null
  isDeployed: boolean
  /** A sentence about a fault; null without one. */
  finding: string | null
}

const router = new Interface(paymentRouterAbi)

/** Null when the contract gives no answer. */
async function termOf(provider: JsonRpcProvider, to: string, method: 'token' | 'feeBps' | 'feeReceiver'): Promise<string | null> {
  try {
    return String(router.decodeFunctionResult(method, await provider.call({ to, data: router.encodeFunctionData(method) }))[0])
  } catch (error) {
    if (isError(error, 'CALL_EXCEPTION') || isError(error, 'BAD_DATA')) return null
    throw error
  }
}

async function findingOf(provider: JsonRpcProvider, address: string, code: string, chainId: number): Promise<string | null> {
  const usdcAddress = await termOf(provider, address, 'token')
  const feeBps = await termOf(provider, address, 'feeBps')
  const feeReceiver = await termOf(provider, address, 'feeReceiver')
  const isKnown = usdcAddress !== null && feeBps !== null && feeReceiver !== null
  if (!isKnown || code !== routerCode(address, { usdcAddress, feeBps: BigInt(feeBps), feeReceiver })) return 'other code stands there'
  const listed = supportedChains[chainId]
  if (listed === undefined) return `a router stands there, for the token ${usdcAddress}, and the chain is not on the list of supported ones`
  if (usdcAddress.toLowerCase() === listed.usdcAddress.toLowerCase()) return null
  return `a router stands there for the token ${usdcAddress}, and USDC is ${listed.usdcAddress}`
}

/**
 * Looks for a router at `address` on whatever chain the node is of. Only the deployer's key can put one there, and only the token is its holder's
 * choice: a router on a chain that is not listed, or with another token than Circle's, shows that someone else has used the key.
 */
export async function surveyRouter(provider: JsonRpcProvider, address: string): Promise<RouterSurvey> {
  const chainId = Number(await provider.send('eth_chainId', []))
  const code = await provider.getCode(address)
  const isDeployed = code !== '0x'
  const finding = isDeployed ? await findingOf(provider, address, code, chainId) : null
  return { chainId, chain: supportedChains[chainId]?.name ?? null, isDeployed, finding }
}
