/** Balances asked for in one call: what goes in and comes out stays far below the limits of nodes. */
export const BALANCES_AT_ONCE = 500

const BYTES_EACH = 16

/**
 * Machine code of the length 0x61 that reads the 20-byte addresses behind itself, asks the token for the balance of each, and answers the
 * lower 16 bytes of each.
 */
const code = (token: string) =>
  [
    '6370a0823160e01b600052', // memory 0: the selector of balanceOf
    '60616080', // i = the end of this code; out = 0x80
    '5b81381115605357', // 0x0f: while i < codesize
    '6014826010', // memory 0x10: the address at i
    '39',
    `602060406024600073${token}5afa`, // balanceOf(address) to memory 0x40
    '15605b57', // or fail
    '60405160801b8152', // memory out: the balance, shifted to the left
    '6010019060140190600f56', // out += 16, i += 20, again
    '5b608090036080f3', // 0x53: answer memory from 0x80 to out
    '5b60006000fd', // 0x5b: revert
  ].join('')

/** The data of an `eth_call` without a recipient that answers many balances at once: no contract has to be deployed for it anywhere. */
export function balancesCall(token: string, addresses: readonly string[]): string {
  const digits = (address: string) => address.slice(2).toLowerCase()
  return `0x${code(digits(token))}${addresses.map(digits).join('')}`
}

/** The balances in the order of the addresses. Throws RangeError on an answer of another length. */
export function decodeBalances(answer: string, count: number): bigint[] {
  const width = 2 * BYTES_EACH
  if (!/^0x[0-9a-f]*$/i.test(answer) || answer.length !== 2 + count * width)
    throw new RangeError(`${count} balances were asked for, and the answer has ${answer.length - 2} digits`)
  return Array.from({ length: count }, (_, index) => BigInt(`0x${answer.slice(2 + index * width, 2 + (index + 1) * width)}`))
}
