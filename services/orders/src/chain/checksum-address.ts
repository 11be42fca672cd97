import { getAddress } from 'ethers'

/** An address in EIP-55 form, from any case. */
export const checksumAddress = (address: string): string => getAddress(address.toLowerCase())
