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
  logger: Logger
}

export interface PayoutAddresses {
  /** Throws `payout_address_refused` when a merchant's share could not reach this address, or could not be got out of it again. */
  require(address: string): Promise<void>
}

const KNOWN_MAX = 50_000
const PAYABLE_MS = 600_000
/** The issuer may lift a block, and a node may answer again. */
const UNCERTAIN_MS = 30_000

/** Where merchants may be paid. What was found is remembered for minutes, so that opening an order asks neither chain nor database. */
export function createPayoutAddresses(options: PayoutAddressesOptions): PayoutAddresses {
  const { routerAddress, tokenAddress, isDepositAddress, isBlocked, logger } = options
  const contracts = new Map<string, string>([
    [`0x${'0'.repeat(40)}`, 'is the zero address: what is sent there is lost'],
    [routerAddress.toLowerCase(), 'is the payment router: what is sent there is lost'],
    [tokenAddress.toLowerCase(), 'is the token itself: what is sent there is lost'],
    [
      depositImplementation(checksumAddress(routerAddress)).toLowerCase(),
      'is a contract of the payment router: what is sent there is lost',
    ],
  ])

  const blockage = async (address: string): Promise<{ reason: string | null; isCertain: boolean }> => {
    try {
      const reason = (await isBlocked(address)) ? 'is blocked by the issuer of the token: it can receive nothing' : null
      return { reason, isCertain: reason === null }
    } catch (error) {
      // A block keeps money where it is, and the listener reports it; a node that does not answer must not stop every merchant.
      logger.warn('the block list of the token cannot be read', { payout_address: address, error })
      return { reason: null, isCertain: false }
    }
  }
  const reasons = new LRUCache<string, { reason: string | null }>({
    max: KNOWN_MAX,
    async fetchMethod(address, _, { options: entry }) {
      if (await isDepositAddress(address)) return { reason: 'is the deposit address of an order: what is sent there pays that order' }
      const { reason, isCertain } = await blockage(address)
      entry.ttl = isCertain ? PAYABLE_MS : UNCERTAIN_MS
      return { reason }
    },
    ttl: PAYABLE_MS,
  })

  return {
    async require(address) {
      const known = contracts.get(address.toLowerCase())
      const reason = known ?? (await reasons.fetch(checksumAddress(address)))?.reason
      if (!reason) return
      throw new ApiError(
        'payout_address_refused',
        `The payout address ${address} ${reason}. Set payout_address to an account of your own with PATCH /api/v1/merchants/me.`,
      )
    },
  }
}
