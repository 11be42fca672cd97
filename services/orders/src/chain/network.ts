import { ApiError, invalidField, requireChoice } from '@ponte/contracts'
import { profileOf, typicalSeconds } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import type { NetworkSettings } from '../config'
import { type OfferedNetwork, type Payout, payoutAddressOn } from '../payment/payment'
import { isBlockedByToken, isContract, openChainReader } from './chain-reader'
import { createDeploymentCheck, unverifiedDeployment } from './deployment'
import { depositAddresses } from './deposit-address'
import { createPayoutAddresses, unpayableAddresses } from './payout-addresses'
import type { BlockToProve } from './receipt-proof'
import { readProofs } from './receipts'
import { createTokenName } from './token-domain'

/** An order waits for a node at most this long when its payout address is new. */
const CHAIN_TIMEOUT_MS = 3_000
/** Receipts of a full block are some megabytes. */
const PROOF_TIMEOUT_MS = 20_000

export interface NetworkDeps {
  feeBps: bigint
  development: boolean
  isDepositAddress(address: string): Promise<boolean>
  logger: Logger
}

export type Network = ReturnType<typeof openNetwork>

/** One network: its nodes, whether it is as configured, and where merchants may be paid there. */
export function openNetwork(
  { rpcUrls, depositFactory, ...settings }: NetworkSettings,
  { feeBps, development, isDepositAddress, logger }: NetworkDeps,
) {
  const { chainId, tokenAddress, routerAddress, confirmations } = settings
  const reader = openChainReader(rpcUrls, chainId, CHAIN_TIMEOUT_MS)
  const archive = openChainReader(rpcUrls, chainId, PROOF_TIMEOUT_MS)
  const isAsked = rpcUrls.length > 0
  const expected = { chainId, usdcAddress: tokenAddress, routerAddress, feeBps: Number(feeBps), development }
  return {
    ...settings,
    typicalSeconds: typicalSeconds(chainId, confirmations),
    depositAddress: depositAddresses(depositFactory),
    isRelayed: depositFactory !== undefined,
    tokenName: createTokenName(reader, tokenAddress),
    /** No one can be paid there. */
    unpayable: unpayableAddresses(routerAddress, tokenAddress).map(([address]) => address),
    prove: (block: BlockToProve) => readProofs(archive, profileOf(chainId), block),
    deployment: isAsked ? createDeploymentCheck(reader, expected, logger) : unverifiedDeployment,
    payoutAddresses: createPayoutAddresses({
      ...{ routerAddress, tokenAddress, isDepositAddress, logger },
      isBlocked: async address => isAsked && (await isBlockedByToken(reader, tokenAddress, address)),
      isContract: async address => isAsked && (await isContract(reader, address)),
    }),
  }
}

/**
 * The chains that a new order may be paid on: of those that are followed, its merchant's, and of these its own. A network that the merchant chose and that is
 * followed no more is left out, and the first is always one. Throws `invalid_request` where the order names another one, or leaves out the first.
 */
export function chosenChains(
  followed: readonly [number, ...number[]],
  ofMerchant: readonly number[] | null,
  ofOrder: readonly number[] | null,
): readonly number[] {
  const [first, ...others] = followed
  const kept = ofMerchant === null ? followed : [first, ...others.filter(chainId => ofMerchant.includes(chainId))]
  if (ofOrder === null) return kept
  requireChoice(kept, ofOrder)
  return ofOrder
}

type Offering = Pick<Network, 'chainId' | 'tokenAddress' | 'routerAddress' | 'depositAddress' | 'deployment' | 'payoutAddresses'>

/**
 * The networks, and on which of them a merchant can be paid; the first has to be one unless it is closed, and then stands behind those that are
 * offered. An account's key is the same on all of them, and a contract wallet can take money only where its code stands. One that is closed, or cannot be asked,
 * is not offered. Throws `payout_address_refused`, or `service_unavailable` while the first chain was not verified, and where none is offered.
 */
export async function offersFor(
  payout: Payout,
  networks: readonly [Offering, ...Offering[]],
  isOpen: (chainId: number) => boolean,
): Promise<[OfferedNetwork, ...OfferedNetwork[]]> {
  const [first, ...others] = networks
  const own = payoutAddressOn(payout, first.chainId)
  const isFirstOpen = isOpen(first.chainId)
  const asked = isContractOn(first, own)
  const isContract = await (isFirstOpen ? asked : asked.catch(refused))
  const found = await Promise.all(
    others.map(async network => {
      const address = payoutAddressOn(payout, network.chainId)
      const there = isOpen(network.chainId) ? await isContractOn(network, address).catch(refused) : null
      const isElsewhere = async () => (address === own ? isContract : isContractOnAny(networks, address, network))
      const isOffered = there === true || (there === false && (await isElsewhere()) === false)
      return { ...network, isOffered, merchantAddress: address, merchantIsContract: there === true }
    }),
  )
  const offer = { ...first, isOffered: isFirstOpen, merchantAddress: own, merchantIsContract: isContract === true }
  // Where the first could not be asked, a contract may stand there.
  if (isFirstOpen) return [offer, ...found.map(watchedAs({ ...offer, merchantIsContract: isContract !== false }))]
  const [leading, ...rest] = found.toSorted((one, other) => Number(other.isOffered) - Number(one.isOffered))
  if (leading?.isOffered !== true)
    throw new ApiError('service_unavailable', 'No network on which you can be paid takes new orders at the moment; try again later.', {
      retryAfterS: 60,
    })
  return [leading, ...[...rest, offer].map(watchedAs(leading))]
}

/** Where a network is not offered, payers may send to the address that they see. It is swept there all the same, a contract's only once its code stands there. */
const watchedAs =
  ({ merchantAddress, merchantIsContract }: OfferedNetwork) =>
  (network: OfferedNetwork): OfferedNetwork =>
    network.isOffered ? network : { ...network, merchantAddress, merchantIsContract }

/**
 * Whether a contract stands at a payout address on the network that it is named for; on the first where none is. Null where that could not be asked. Throws
 * `payout_address_refused` or, on a network that is none of the others, `invalid_request`.
 */
export async function judgePayoutAddress(
  [first, ...others]: readonly [Named, ...Named[]],
  address: string,
  chainId?: number,
): Promise<boolean | null> {
  if (chainId === undefined) return (await first.payoutAddresses.require(address)).isContract
  const network = others.find(other => other.chainId === chainId)
  if (!network) throw invalidField('chain_id', `must be of the networks beside the first: ${others.map(other => other.chainId).join(', ')}`)
  const [there, isElsewhere] = [await isContractOn(network, address), await isContractOnAny([first, ...others], address, network)]
  if (there === false && isElsewhere)
    throw new ApiError(
      'payout_address_refused',
      `The payout address ${address} is a contract on another network and has no code on ${network.network}: what is sent to it there is out of reach. Deploy it there first.`,
    )
  return there || isElsewhere !== null ? there : null
}
type Named = Offering & Pick<Network, 'network'>

function refused(error: unknown): null {
  if (error instanceof ApiError) return null
  throw error
}

/** Null when that could not be asked. */
async function isContractOn({ deployment, payoutAddresses }: Offering, payoutAddress: string): Promise<boolean | null> {
  deployment.requireVerified()
  return (await payoutAddresses.require(payoutAddress)).isContract
}

/** On any network but one. Null when the first could not be asked and none of the others has it. */
async function isContractOnAny(
  [first, ...others]: readonly [Offering, ...Offering[]],
  address: string,
  but: Offering,
): Promise<boolean | null> {
  const asked = [first, ...others.filter(network => network !== but)]
  const [onFirst = null, ...found] = await Promise.all(asked.map(network => isContractOn(network, address).catch(refused)))
  return found.includes(true) || onFirst
}
