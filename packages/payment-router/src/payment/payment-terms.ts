import { concat, getAddress, isHexString, keccak256, ZeroAddress } from 'ethers'

const MEMO = /^(?:0x)?([0-9a-f]{64})$/i

/** The 64 bytes `abi.encode(memo, merchant)`. Throws TypeError on a memo that is not 32 bytes in hex or is zero, and on a wrong or zero address. */
export function encodePayment(memo: string, merchant: string): Buffer {
  const digits = MEMO.exec(memo)?.[1]
  if (digits === undefined || /^0+$/.test(digits)) throw new TypeError(`a memo is 32 bytes in hex and not zero: ${memo}`)
  // An address in lower case has no checksum to check, which is a hash.
  const address = /^0x[0-9a-f]{40}$/.test(merchant) ? merchant : getAddress(merchant)
  if (address === ZeroAddress) throw new TypeError('the merchant address must not be zero')
  return Buffer.from(`${digits}${'0'.repeat(24)}${address.slice(2)}`, 'hex')
}

/**
 * The nonce that an EIP-3009 authorization for `payWithAuthorization` must carry: keccak256(abi.encode(memo, merchant, salt)), 0x and 64 hex.
 * `memo` is 64 hex with or without 0x; `salt` is 0x and 64 hex, chosen by the payer, another one for each payment of the same order.
 * Throws TypeError on a wrong or zero memo or merchant and on a wrong salt.
 */
export function authorizationNonce(memo: string, merchant: string, salt: string): string {
  if (!isHexString(salt, 32)) throw new TypeError(`a salt is 0x and 32 bytes in hex: ${salt}`)
  return keccak256(concat([encodePayment(memo, merchant), salt]))
}
