import { dataLength, getAddress, getCreateAddress, keccak256 } from 'ethers'
import { encodePayment } from './payment-key'

// OpenZeppelin's Clones: EIP-1167 with the immutable arguments behind its 45 bytes of code, which makes 0x6d of them.
const CREATION = '61006d3d81600a3d39f3363d3d373d3d3d363d73'
const DELEGATION = '5af43d82803e903d91602b57fd5bf3'

function digitsOf(address: string): string {
  if (dataLength(address) !== 20) throw new TypeError(`not an address: ${address}`)
  return address.slice(2)
}

const implementations = new Map<string, string>()

/** The contract that every deposit address of `router` is a clone of: the one the router created in its constructor. */
export function depositImplementation(router: string): string {
  const known = implementations.get(router) ?? getCreateAddress({ from: router, nonce: 1 })
  implementations.set(router, known)
  return known
}

/**
 * Where a plain token transfer pays (memo, merchant) by way of `router`, in EIP-55 form; the same as the router's own
 * `depositAddress`, without asking a node and whether or not anything is deployed there. `memo` is 64 hex with or without 0x.
 * Throws TypeError on a wrong or zero memo or address.
 */
export function depositAddress(of: { router: string; memo: string; merchant: string }): string {
  const terms = encodePayment(of.memo, of.merchant)
  const initCode = Buffer.concat([Buffer.from(`${CREATION}${digitsOf(depositImplementation(of.router))}${DELEGATION}`, 'hex'), terms])
  const place = `ff${digitsOf(of.router)}${keccak256(terms).slice(2)}${keccak256(initCode).slice(2)}`
  return getAddress(`0x${keccak256(Buffer.from(place, 'hex')).slice(26)}`)
}
