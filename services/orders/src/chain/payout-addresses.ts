import { ApiError } from '@ponte/contracts'
import { depositImplementation } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import { LRUCache } from 'lru-cache'
import { checksumAddress } from './checksum-address'

export interface PayoutAddressesOptions {
  routerAddress: string
  tokenAddress: string
  /** True when plain transfers to this address (in EIP-55 form) pay an order. */
  isDepositAddress(address: string): Promise<boolean>
  /** True when the token's issuer has blocked the account. Rejects when the chain cannot be asked. */
  isBlocked(address: string): Promise<boolean>
  /** True when a contract stands at the address. Rejects when the chain cannot be asked. */
  isContract(address: string): Promise<boolean>
  /** Milliseconds that never go back. */
  clock?: () => number
  logger: Logger
}

export interface PayoutAddresses {
  /**
   * Throws `payout_address_refused` when a merchant's share could not reach this address, or could not be got out of it again. Answers whether a
   * contract stands there, which other chains may not have; null when the chain could not be asked.
   */
  require(address: string): Promise<{ isContract: boolean | null }>
  /** Why money must not be sent to this address, as the end of a sentence; null where nothing is known against it. */
  refusalOf(address: string): Promise<string | null>
}

interface Finding {
  refusal: string | null
  isContract: boolean | null
}

const KNOWN_MAX = 50_000
const PAYABLE_MS = 600_000
/** An issuer blocks at any moment, and until it is seen orders are opened that no one can pay: one question for each merchant in so many seconds. */
const UNBLOCKED_MS = 15_000
/** The issuer may lift a block, and a node may answer again. */
const UNCERTAIN_MS = 30_000

/** Where no one can be paid, in lower case, and why. */
export const unpayableAddresses = (routerAddress: string, tokenAddress: string): [address: string, refusal: string][] => [
  [`0x${'0'.repeat(40)}`, 'is the zero address: what is sent there is lost'],
  [routerAddress.toLowerCase(), 'is the payment router: what is sent there is lost'],
  [tokenAddress.toLowerCase(), 'is the token itself: what is sent there is lost'],
  [depositImplementation(checksumAddress(routerAddress)).toLowerCase(), 'is a contract of the payment router: what is sent there is lost'],
]

/** Where merchants may be paid. What was found is remembered, a block for seconds and the rest for minutes, so that few orders ask chain and database. */
export function createPayoutAddresses(options: PayoutAddressesOptions): PayoutAddresses {
  const { routerAddress, tokenAddress, isDepositAddress, isBlocked, isContract, clock = () => performance.now(), logger } = options
  const contracts = new Map(unpayableAddresses(routerAddress, tokenAddress))

  const lookedUp = async <T>(address: string, question: (address: string) => Promise<T>): Promise<T | null> => {
    try {
      return await question(address)
    } catch (error) {
      // A block keeps money where it is, and the listener reports it; a node that does not answer must not stop every merchant.
      logger.warn('a payout address cannot be looked up on the chain', { payout_address: address, error })
      return null
    }
  }
  const remembered = { max: KNOWN_MAX, ttl: PAYABLE_MS, ttlResolution: 0, perf: { now: clock } }
  const findings = new LRUCache<string, Finding>({
    ...remembered,
    async fetchMethod(address, _, { options: entry }) {
      if (await isDepositAddress(address))
        return { refusal: 'is the deposit address of an order: what is sent there pays that order', isContract: null }
      const contract = await lookedUp(address, isContract)
      entry.ttl = contract === null ? UNCERTAIN_MS : PAYABLE_MS
      return { refusal: null, isContract: contract }
    },
  })
  const blocks = new LRUCache<string, { isBlocked: boolean }>({
    ...remembered,
    async fetchMethod(address, before, { options: entry }) {
      const blocked = await lookedUp(address, isBlocked)
      entry.ttl = blocked === false ? UNBLOCKED_MS : UNCERTAIN_MS
      return { isBlocked: blocked ?? before?.isBlocked === true }
    },
  })
  const find = async (address: string): Promise<Finding> => {
    const [finding, block] = await Promise.all([findings.fetch(address), blocks.fetch(address)])
    const blocked = block?.isBlocked ? 'is blocked by the issuer of the token: it can receive nothing' : null
    return { refusal: finding?.refusal ?? blocked, isContract: finding?.isContract ?? null }
  }

  const judge = async (address: string): Promise<Finding> => {
    const known = contracts.get(address.toLowerCase())
    return known === undefined ? find(checksumAddress(address)) : { refusal: known, isContract: null }
  }

  return {
    refusalOf: async address => (await judge(address)).refusal,

    async require(address) {
      const finding = await judge(address)
      if (!finding.refusal) return { isContract: finding.isContract }
      throw new ApiError(
        'payout_address_refused',
        `The payout address ${address} ${finding.refusal}. Set payout_address to an account of your own with PATCH /api/v1/merchants/me.`,
      )
    },
  }
}
