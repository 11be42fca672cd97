import type { LocalChain } from '@ponte/local-servers'
import { id } from 'ethers'

export const TRANSFER = id('Transfer(address,address,uint256)')
export const addressIn = (topic: string | undefined) => `0x${(topic ?? '').slice(26)}`

/** Every movement of the token on a canonical chain. Addresses are lower-case, amounts in units, times in seconds. */
export async function transfersOf({ provider, usdcAddress }: LocalChain) {
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
