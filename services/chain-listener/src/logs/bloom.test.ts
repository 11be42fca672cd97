import { bloomBits, mayContain } from './bloom'

const ADDRESS = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
const TOPIC = `0x${'aa'.repeat(32)}`
const bloomOf = (items: readonly string[]) =>
  `0x${items
    .flatMap(bloomBits)
    .reduce((bloom, bit) => bloom | (1n << BigInt(bit)), 0n)
    .toString(16)
    .padStart(512, '0')}`
const BLOOM = bloomOf([ADDRESS, TOPIC])

describe("a block's bloom", () => {
  it('admits what the block logged', () => {
    expect(mayContain(BLOOM, bloomBits(ADDRESS))).toBe(true)
    expect(mayContain(BLOOM, bloomBits(TOPIC))).toBe(true)
  })

  it('rules out what it did not, and everything when it is empty', () => {
    expect(mayContain(BLOOM, bloomBits(`0x${'01'.repeat(20)}`))).toBe(false)
    expect(mayContain(`0x${'0'.repeat(512)}`, bloomBits(ADDRESS))).toBe(false)
  })
})
