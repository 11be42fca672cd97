import { id } from 'ethers'
import type { World } from '../../world'

export const TRANSFER = id('Transfer(address,address,uint256)')
export const addressIn = (topic: string | undefined) => `0x${(topic ?? '').slice(26)}`

/** Every movement of the token on the canonical chain. Addresses are lower-case, amounts in units, times in seconds. */
export async function transfersOf({ chain: { provider, usdcAddress } }: Pick<World, 'chain'>) {
  const logs = await provider.getLogs({ fromBlock: 0, toBlock: 'latest', address: usdcAddress, topics: [TRANSFER] })
  const times = new Map<number, number>()
  for (const block of new Set(logs.map(({ blockNumber }) => blockNumber)))
    times.set(block, (await provider.getBlock(block))?.timestamp ?? 0)
  return logs.map(({ transactionHash, blockHash, blockNumber, index, topics, data }) => ({
    ...{ txHash: transactionHash, blockHash, block: blockNumber, logIndex: index, time: times.get(blockNumber) ?? 0 },
    ...{ from: addressIn(topics[1]), to: addressIn(topics[2]), amount: BigInt(data) },
  }))
}
export type Transfer = Awaited<ReturnType<typeof transfersOf>>[number]
