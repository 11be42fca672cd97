import type { LocalChain } from '@ponte/local-servers'
import type { Random } from '../torture/random'
import { createActors } from './actors'
import { openChainClock } from './chain-clock'
import type { ReadChain } from './judge-orders'
import { openRpc, readChain } from './rpc'

/** A chain with all accounts that send transactions there. */
export async function openNetwork(local: LocalChain, confirmations: number) {
  const { chainId, usdcAddress, routerAddress } = local
  const rpc = openRpc(local.rpcUrl)
  const clock = await openChainClock(rpc)
  return {
    local,
    rpc,
    clock,
    actors: await createActors(local, rpc, clock),
    async read(): Promise<ReadChain> {
      const chain = await readChain(rpc, usdcAddress, routerAddress)
      const block = chain.head - confirmations + 1
      return { chainId, chain, confirmed: { block, time: await chain.timeOf(block) } }
    },
  }
}
export type Network = Awaited<ReturnType<typeof openNetwork>>

/** One time for all chains: each has a block at every moment, unless it stands still. */
export function createTime(networks: readonly Network[]) {
  const halted = new Set<Network>()
  const now = () => Math.max(...networks.map(({ clock }) => clock.now()))
  return {
    now,
    async mineAt(seconds: number): Promise<void> {
      const at = Math.max(seconds, now() + 1)
      await Promise.all(networks.filter(network => !halted.has(network)).map(({ clock }) => clock.mineAt(at)))
    },
    isHalted: (network: Network) => halted.has(network),
    /** One of several stands still; at least one goes on. */
    halt(random: Random): boolean {
      if (halted.size + 1 >= networks.length) return false
      halted.add(random.pick(networks))
      return true
    },
    resume: () => halted.clear(),
  }
}
export type Time = ReturnType<typeof createTime>
