import { keccak256 } from 'ethers'

/** The three bits that an address or a topic sets in a block's log bloom. */
export function bloomBits(item: string): number[] {
  const hash = Buffer.from(keccak256(item).slice(2), 'hex')
  return [0, 2, 4].map(at => hash.readUInt16BE(at) & 2047)
}

/** False only when the block certainly has no log with these bits. Chains that leave the bloom empty return false for every block. */
export function mayContain(bloom: string, bits: readonly number[]): boolean {
  return bits.every(bit => {
    const nibble = Number.parseInt(bloom.charAt(bloom.length - 1 - (bit >> 2)), 16)
    return (nibble & (1 << (bit & 3))) !== 0
  })
}
