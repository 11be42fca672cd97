import { mined } from '@ponte/local-servers'
import { Wallet } from 'ethers'
import { createMerchant, type World } from '../world'
import type { Cluster } from './cluster'
import type { Step } from './steps'

/** A merchant who asks for nothing: money comes straight to payout addresses, which change, and which another one may have at the same time. */
export interface Till {
  body: { id: string; api_key: string; token: string }
  /** Addresses of all tills. */
  addresses: readonly string[]
  /** Networks for which another one may be named. */
  otherChainIds: readonly number[]
}

const TILLS = 2
const ADDRESSES = 3

export async function openTills(world: World, { gatewayUrls }: Cluster): Promise<Till[]> {
  const addresses = Array.from({ length: ADDRESSES }, () => Wallet.createRandom().address)
  const otherChainIds = world.otherChains.map(({ chainId }) => chainId)
  const opened: Till[] = []
  for (const address of addresses.slice(0, TILLS))
    opened.push({ addresses, otherChainIds, body: await createMerchant(world, gatewayUrls[0] ?? '', null, address) })
  // Some in any case, however slow the machine is. Times of blocks are whole seconds, so that the first ones may lie before the merchant.
  for (const units of [1n, 2n, 3n, 4n]) await mined(world.chain.mintUsdc(addresses[0] ?? '', units))
  return opened
}

export const moveTill: Step = async ({ requests, tills, count }, { random }, signal) => {
  const { body, addresses, otherChainIds } = random.pick(tills)
  const chainId = random.pick([null, ...otherChainIds])
  if (await requests.insist(changeOf(body, chainId, random.pick(addresses)), signal)) count('payout addresses changed')
}

/** A merchant of orders is paid elsewhere on one network from now on, or there as on all others again. */
export const moveOwn: Step = async ({ requests, count }, { merchant: { body, own }, random }, signal) => {
  if (!own?.isMoved) return
  const address = random.pick([null, ...own.wallets.map(wallet => wallet.address)])
  if (await requests.insist(changeOf(body, own.chainId, address), signal)) count('payout addresses of one network changed')
}

/** Of all networks but those with one of their own, or of one. */
const changeOf = ({ token }: { token: string }, chainId: number | null, address: string | null) => ({
  ...{ method: 'PATCH', path: '/api/v1/merchants/me', apiKey: token },
  body: chainId === null ? { payout_address: address } : { payout_addresses: { [chainId]: address } },
})

/** To a till, or to the merchant of the orders that the same payer pays. */
export const payDirectly: Step = async ({ tills }, { merchant, payer, random }) => {
  const payout = random.chance(0.4) ? merchant.body.payout_address : random.pick(random.pick(tills).addresses)
  void payer.direct(payout ?? '', BigInt(random.between(1, 90_000_000)))
}
