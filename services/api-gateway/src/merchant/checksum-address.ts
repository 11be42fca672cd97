import { getAddress } from 'ethers/address'

/** The EIP-55 spelling of an address. Undefined when mixed-case letters do not match their checksum: a character may be mistyped. */
export function checksumAddress(address: string): string | undefined {
  try {
    return getAddress(address)
  } catch {
    return undefined
  }
}
