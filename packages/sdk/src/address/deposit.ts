import { PonteError } from '../failure.js'
import { keccak256 } from './keccak.js'

/** What a deposit address is made of. */
export interface DepositTerms {
  /** The payment router of the chain: 0x and 40 hex. */
  router: string
  /** Of the order: 64 hex, with or without 0x. */
  memo: string
  /** Where the money goes: 0x and 40 hex. */
  payoutAddress: string
}

// EIP-1167 as OpenZeppelin's Clones deploy it, around the contract that the router made first.
const CREATION = ['3d602d80600a3d3981f3363d3d373d3d3d363d73', '5af43d82803e903d91602b57fd5bf3'] as const

/**
 * The deposit address of an order, in lower case: CREATE2 of the router, with keccak256(memo, payout address) as its salt. A token transfer to it can reach
 * that payout address and no other. Throws `invalid_argument` on a memo or an address that is none.
 */
export function depositAddress({ router, memo, payoutAddress }: DepositTerms): string {
  const [from, to] = [digitsOf(router, 40, 'router'), digitsOf(payoutAddress, 40, 'payoutAddress')]
  // RLP of (router, nonce 1): the address of what it created in its constructor.
  const implementation = hashed(`d694${from}01`).slice(24)
  const salt = hashed(`${digitsOf(memo, 64, 'memo')}${'0'.repeat(24)}${to}`)
  return `0x${hashed(`ff${from}${salt}${hashed(CREATION.join(implementation))}`).slice(24)}`
}

function digitsOf(hex: string, length: number, name: string): string {
  const digits = hex.replace(/^0x/i, '').toLowerCase()
  if (digits.length === length && /^[0-9a-f]+$/.test(digits) && !/^0+$/.test(digits)) return digits
  throw new PonteError({ code: 'invalid_argument', detail: `${name} must be ${length} hex digits and not zero: ${hex}` })
}

function hashed(hex: string): string {
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], pair => Number.parseInt(pair, 16))
  return Array.from(keccak256(bytes), byte => byte.toString(16).padStart(2, '0')).join('')
}
