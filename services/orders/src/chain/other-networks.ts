import { ApiError } from '@ponte/contracts'
import type { OfferedNetwork } from '../payment/payment'
import type { DeploymentCheck } from './deployment'
import type { PayoutAddresses } from './payout-addresses'

export interface OtherNetwork {
  terms: Omit<OfferedNetwork, 'merchantIsContract'>
  deployment: Pick<DeploymentCheck, 'requireVerified'>
  payoutAddresses: Pick<PayoutAddresses, 'require'>
}

/**
 * The networks beside the first on which a merchant can be paid at this address: an account's key is the same on all of them, and a contract wallet can take
 * money only where its code stands. What cannot be asked is not offered.
 */
export async function offeredNetworks(
  payoutAddress: string,
  isContract: boolean | null,
  networks: readonly OtherNetwork[],
): Promise<OfferedNetwork[]> {
  const found = await Promise.all(
    networks.map(async ({ terms, deployment, payoutAddresses }) => {
      const there = await isContractThere(payoutAddress, deployment, payoutAddresses)
      return there === true || (there === false && isContract === false) ? [{ ...terms, merchantIsContract: there }] : []
    }),
  )
  return found.flat()
}

/** Null where no one can be paid at this moment. */
async function isContractThere(
  payoutAddress: string,
  deployment: OtherNetwork['deployment'],
  payoutAddresses: OtherNetwork['payoutAddresses'],
): Promise<boolean | null> {
  try {
    deployment.requireVerified()
    return (await payoutAddresses.require(payoutAddress)).isContract
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
