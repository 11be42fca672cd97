import { getAddress } from 'ethers'

/** An address in EIP-55 form, from any case. */
export const checksumAddress = (address: string): string => getAddress(address.toLowerCase())

/** True when mixed-case letters do not match their checksum: a character may be mistyped. */
export function isMistyped(address: string): boolean {
  try {
    getAddress(address)
    return false
  } catch {
    return true
  }
}
