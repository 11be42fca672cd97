/**
 * Creation code of a contract that makes the calls its input lists ((32 bytes target, 32 bytes length, data) each) and reverts when one of
 * them does, as the wallet of an exchange does when it pays many at once:
 * `for (pos = 0; calldatasize > pos; pos += 64 + len) { copy(pos + 64, len = calldata[pos + 32]); call(calldata[pos]) }`
 */
export const BUNDLE_CODE =
  '0x602f600a5f39602f5ff35f5b80361115602957806020013580826040015f375f5f825f5f86355af115602b57016040016001565b005b5f5ffd'

const word = (digits: string) => digits.padStart(64, '0')

/** Input for that contract. */
export const bundle = (calls: readonly { to: string; data: string }[]): string =>
  `0x${calls.map(({ to, data }) => `${word(to.slice(2))}${word(((data.length - 2) / 2).toString(16))}${data.slice(2)}`).join('')}`
