import { keccak_256 } from '@noble/hashes/sha3'

/** The EIP-55 spelling of an address: a hex letter is upper-case where the hash of the lower-case text has a nibble of 8 or more. */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak_256(digits)
  const nibble = (index: number) => ((hash[index >> 1] ?? 0) >> (index % 2 === 0 ? 4 : 0)) & 15
  return `0x${[...digits].map((digit, index) => (nibble(index) >= 8 ? digit.toUpperCase() : digit)).join('')}`
}

/** Letters of one case carry no checksum and are accepted; mixed letters must match it: one of them mistyped is somebody else's address. */
export function isValidAddress(address: string): boolean {
  const digits = address.slice(2)
  const uniform = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return uniform || address === checksumAddress(address)
}
