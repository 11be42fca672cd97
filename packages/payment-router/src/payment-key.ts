import { concat, dataLength, getAddress, keccak256, ZeroAddress, ZeroHash, zeroPadValue } from 'ethers'

/** The 64 bytes `abi.encode(memo, merchant)`. Throws on a memo that is not 32 bytes or zero, and on a wrong or zero address. */
export function encodePayment(memo: string, merchant: string): string {
  const bytes = memo.startsWith('0x') ? memo : `0x${memo}`
  if (dataLength(bytes) !== 32 || bytes === ZeroHash) throw new TypeError(`a memo is 32 bytes in hex and not zero: ${memo}`)
  const address = getAddress(merchant)
  if (address === ZeroAddress) throw new TypeError('the merchant address must not be zero')
  return concat([bytes, zeroPadValue(address, 32)])
}

/**
 * Names one merchant's memo, as the router's `paymentKey` does: keccak256(abi.encode(memo, merchant)), 0x and 64 hex.
 * `memo` is 64 hex with or without 0x. Throws TypeError on a wrong or zero memo or merchant.
 */
export function paymentKey(memo: string, merchant: string): string {
  return keccak256(encodePayment(memo, merchant))
}

/** The nonce that an EIP-3009 authorisation for `payWithAuthorization` must carry. The same value as `paymentKey`. */
export function authorizationNonce(memo: string, merchant: string): string {
  return paymentKey(memo, merchant)
}
