import { concat, getCreate2Address, getCreateAddress, keccak256, toBeHex } from 'ethers'
import { encodePayment } from './payment-key'

// OpenZeppelin's Clones: EIP-1167 with the immutable arguments behind the code, whose 45 bytes they lengthen by 64.
const CREATION = concat(['0x61', toBeHex(0x2d + 64, 2), '0x3d81600a3d39f3363d3d373d3d3d363d73'])
const DELEGATION = '0x5af43d82803e903d91602b57fd5bf3'

/** The contract that every deposit address of `router` is a clone of: the one the router created in its constructor. */
export function depositImplementation(router: string): string {
  return getCreateAddress({ from: router, nonce: 1 })
}

/**
 * Where a plain token transfer pays (memo, merchant) by way of `router`, in EIP-55 form; the same as the router's own
 * `depositAddress`, without asking a node and whether or not anything is deployed there.
 * `implementation` may be given by callers who compute many; it must be `depositImplementation(router)`.
 * Throws TypeError on a wrong or zero memo or address.
 */
export function depositAddress(of: { router: string; memo: string; merchant: string; implementation?: string }): string {
  const terms = encodePayment(of.memo, of.merchant)
  const initCode = concat([CREATION, of.implementation ?? depositImplementation(of.router), DELEGATION, terms])
  return getCreate2Address(of.router, keccak256(terms), keccak256(initCode))
}
