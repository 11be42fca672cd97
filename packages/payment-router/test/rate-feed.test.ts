import { type LocalChain, startLocalChain } from '@ponte/local-servers'
import { Contract } from 'ethers'
import { testRateFeedAbi } from '../src'
import { read, send } from './observe'

let chain: LocalChain
let feed: Contract
beforeAll(async () => {
  chain = await startLocalChain()
  feed = new Contract(chain.rateFeedAddress, testRateFeedAbi, chain.wallet(0))
})
afterAll(() => chain.stop())

const latest = async () => {
  const [round, answer, , updatedAt, answeredInRound] = await read<bigint[]>(feed, 'latestRoundData')
  return { round, answer, updatedAt, answeredInRound }
}

describe('the rate feed of a local chain', () => {
  it('looks like Chainlink’s BRL / USD and begins at 5.42 reais to the dollar', async () => {
    expect([await read(feed, 'description'), await read(feed, 'decimals')]).toEqual(['BRL / USD', 8n])
    expect(await latest()).toMatchObject({ round: 1n, answer: 18_450_184n, answeredInRound: 1n })
  })

  it('is always fresh until it is given a time', async () => {
    await chain.mine(3)
    expect((await latest()).updatedAt).toBeGreaterThanOrEqual(BigInt(await chain.now()))
    await send(feed, 'set', 20_000_000n, 1_700_000_000n)
    expect(await latest()).toEqual({ round: 2n, answer: 20_000_000n, updatedAt: 1_700_000_000n, answeredInRound: 2n })
  })
})
