import type { JsonRpcProvider } from 'ethers'

// Wallets that are contracts and mean no good, written in machine code: what each does when it is asked whether a signature is its own (ERC-1271).

const byte = (value: number) => value.toString(16).padStart(2, '0')
/** Answers that it is. */
const YES = '631626ba7e60e01b5f5260205ff3'
const REVERT = '5f5ffd'
/** Counts down from `n`, at 26 gas a step; stands at this byte of the code. */
const burn = (steps: number, at: number) => `62${steps.toString(16).padStart(6, '0')}5b600190038060${byte(at + 4)}5750`
const BURN_BYTES = 14

/** Uses so much gas, then accepts the signature. */
const burner = (gas: number) => `${burn(Math.floor(gas / 26), 0)}${YES}`

/** Accepts the signature while this opcode gives zero, which is so in rehearsals alone; uses gas and reverts otherwise. */
const rehearsalOnly = (opcode: string) => (gas: number) =>
  `${opcode}1560${byte(5 + BURN_BYTES + 3)}57${burn(Math.floor(gas / 26), 5)}${REVERT}5b${YES}`

/** Accepts the signature until it is called with no data; uses gas and reverts from then on. */
function switchable(gas: number): string {
  const head = 5 + 6
  const yes = head + BURN_BYTES + 3
  const flip = yes + 1 + YES.length / 2
  return `361560${byte(flip)}57${`5f541560${byte(yes)}57`}${burn(Math.floor(gas / 26), head)}${REVERT}5b${YES}5b60015f5500`
}

/** Code of a wallet by how it deceives; each takes the gas that it burns. */
export const hostileCode = {
  burner,
  whileGasIsFree: rehearsalOnly('3a'),
  whileNoOneProduces: rehearsalOnly('41'),
  whileNothingIsRandom: rehearsalOnly('44'),
  switchable,
}

/** Deploys a wallet of this code, for tests, from one of the node's accounts. Answers its address once it is mined. */
export async function deployHostileWallet({ provider }: { provider: JsonRpcProvider }, code: string, account = 0): Promise<string> {
  const length = byte(code.length / 2)
  const signer = await provider.getSigner(account)
  const sent = await signer.sendTransaction({ data: `0x60${length}600a5f3960${length}5ff3${code}` })
  const { contractAddress } = (await sent.wait()) ?? {}
  if (!contractAddress) throw new Error('The wallet was not deployed.')
  return contractAddress
}
