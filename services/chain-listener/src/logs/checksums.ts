import { getAddress } from 'ethers'

const KEPT = 20_000

/** EIP-55 spelling with a memory: hashing every address of every payment anew would be the dearest part of catching up. */
export function createChecksums(): (address: string) => string {
  const known = new Map<string, string>()
  return address => {
    const before = known.get(address)
    if (before !== undefined) return before
    if (known.size >= KEPT) known.clear()
    const spelt = getAddress(address)
    known.set(address, spelt)
    return spelt
  }
}
