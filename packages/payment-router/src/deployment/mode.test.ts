import { modeFault } from './mode'

const OWN = { chainId: 31_337, development: true }
const SEPOLIA = { chainId: 11_155_111, development: false }
const BASE = { chainId: 8_453, development: false }

test.each([
  ['live', BASE, true],
  ['live', OWN, false],
  ['live', SEPOLIA, false],
  ['test', BASE, false],
  ['test', SEPOLIA, true],
  ['test', OWN, true],
  ['development', OWN, true],
  ['development', SEPOLIA, false],
  ['development', BASE, false],
] as const)('%s on %j: %s', (mode, chain, isRight) => {
  expect(modeFault(mode, chain) === null).toBe(isRight)
})
