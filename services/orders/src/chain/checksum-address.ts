import { getAddress } from 'ethers'
import { LRUCache } from 'lru-cache'

/** The spelling is a hash of the address, and every order of a merchant asks for the same one, once for each network. */
const known = new LRUCache<string, string>({ max: 10_000, memoMethod: address => getAddress(address) })

/** An address in EIP-55 form, from any case. */
export const checksumAddress = (address: string): string => known.memo(address.toLowerCase())

/** True when mixed-case letters do not match their checksum: a character may be mistyped. */
export function isMistyped(address: string): boolean {
  try {
    getAddress(address)
    return false
  } catch {
    return true
  }
}
