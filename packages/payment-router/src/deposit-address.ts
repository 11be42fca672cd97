import { dataLength, getAddress, getCreateAddress, keccak256 } from 'ethers'
import { keccakBytes } from './payment/keccak'
import { encodePayment } from './payment/payment-terms'

// OpenZeppelin's Clones: EIP-1167. The code that stands at the address begins behind the first ten bytes.
const CREATION = '3d602d80600a3d3981f3'
const SALT_AT = 21
const DELEGATION = ['363d3d373d3d3d363d73', '5af43d82803e903d91602b57fd5bf3'] as const

function digitsOf(address: string): string {
  if (dataLength(address) !== 20) throw new TypeError(`not an address: ${address}`)
  return address.slice(2)
}

interface Clone {
  implementation: string
  codeHash: string
  /** Hashed by CREATE2: 0xff, the router, 32 bytes for the salt, the hash of the init code. */
  place: Buffer
}

const clones = new Map<string, Clone>()

function cloneOf(router: string): Clone {
  const known = clones.get(router)
  if (known !== undefined) return known
  const implementation = getCreateAddress({ from: router, nonce: 1 })
  const code = DELEGATION.join(digitsOf(implementation))
  const initCodeHash = keccak256(`0x${CREATION}${code}`).slice(2)
  const place = Buffer.from(`ff${digitsOf(router)}${'0'.repeat(64)}${initCodeHash}`, 'hex')
  const clone = { implementation, codeHash: keccak256(`0x${code}`), place }
  clones.set(router, clone)
  return clone
}

/** The contract that every deposit address of `router` is a clone of: the one the router created in its constructor. */
export const depositImplementation = (router: string): string => cloneOf(router).implementation

/** The code hash of every deposit address of `router` that was deployed. */
export const depositCodeHash = (router: string): string => cloneOf(router).codeHash

interface DepositTerms {
  router: string
  memo: string
  merchant: string
}

/** The address without its EIP-55 spelling, which is a hash of its own. */
function lowerCaseAddress({ router, memo, merchant }: DepositTerms): string {
  const { place } = cloneOf(router)
  place.set(keccakBytes(encodePayment(memo, merchant)), SALT_AT)
  return `0x${Buffer.from(keccakBytes(place)).toString('hex', 12)}`
}

/**
 * Where a plain token transfer pays (memo, merchant) by way of `router`, in EIP-55 form; the same as the router's own
 * `depositAddress`, without asking a node and whether or not anything is deployed there. `memo` is 64 hex with or without 0x.
 * Throws TypeError on a wrong or zero memo or address.
 */
export const depositAddress = (of: DepositTerms): string => getAddress(lowerCaseAddress(of))

/** Whether an address, in lower case, is the deposit address of these terms. Throws as `depositAddress` does. */
export const isDepositAddress = (of: DepositTerms, address: string): boolean => lowerCaseAddress(of) === address
