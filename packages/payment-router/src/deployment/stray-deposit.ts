import { Contract, type JsonRpcProvider } from 'ethers'
import { testUsdcAbi } from '../artifacts/test-usdc'
import { depositAddress } from '../deposit-address'
import { payoutRisk } from '../payout-risk'
import { verifyDeployment } from './verify'

export interface StrayDeposit {
  depositAddress: string
  /** In token units. */
  amount: bigint
  /** Why it must not be swept; null when it may be. */
  refusal: string | null
}

interface Chain {
  provider: JsonRpcProvider
  chainId: number
}

/**
 * Looks at money that was sent to a deposit address on another chain than the order's. Rejects with DeploymentMismatchError unless the router
 * stands there as it must.
 */
export async function inspectStrayDeposit(
  { home, other }: { home: Chain; other: Chain },
  terms: { usdcAddress: string; routerAddress: string; memo: string; merchant: string; development: boolean },
): Promise<StrayDeposit> {
  const { usdcAddress, routerAddress, memo, merchant, development } = terms
  await verifyDeployment(other.provider, { chainId: other.chainId, usdcAddress, routerAddress, development })
  const deposit = depositAddress({ router: routerAddress, memo, merchant })
  const [amount, homeCode, otherCode] = await Promise.all([
    new Contract(usdcAddress, testUsdcAbi, other.provider).getFunction('balanceOf').staticCall(deposit),
    home.provider.getCode(merchant),
    other.provider.getCode(merchant),
  ])
  return { depositAddress: deposit, amount, refusal: amount === 0n ? 'nothing lies there' : payoutRisk(homeCode, otherCode) }
}
