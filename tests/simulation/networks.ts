import type { LocalChain } from '@ponte/local-servers'
import type { Random } from '@ponte/service-kit/testing'
import { createActors } from './actors'
import { openChainClock } from './chain-clock'
import type { ReadChain } from './judge-orders'
import { hex, openRpc, readChain } from './rpc'

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
    async confirmedTime(): Promise<number> {
      const head = Number(await rpc<string>('eth_blockNumber'))
      return Number((await rpc<{ timestamp: string }>('eth_getBlockByNumber', hex(head - confirmations + 1), false)).timestamp)
    },
    async read(): Promise<ReadChain> {
      const chain = await readChain(rpc, usdcAddress, routerAddress)
      const block = chain.head - confirmations + 1
      return { chainId, chain, confirmed: { block, time: await chain.timeOf(block) } }
    },
  }
}
export type Network = Awaited<ReturnType<typeof openNetwork>>

/** Others go on for so long while a chain stands still for an hour. */
export const HOUR_S = 3_600

/** One time for all chains: each has a block at every moment, unless it stands still. */
export function createTime(networks: readonly Network[]) {
  /** With the time from which on each may go on. */
  const halted = new Map<Network, { since: number; until: number }>()
  const now = () => Math.max(...networks.map(({ clock }) => clock.now()))
  const goesOn = (network: Network): number => {
    const { since = now() } = halted.get(network) ?? {}
    halted.delete(network)
    return now() - since
  }
  return {
    now,
    async mineAt(seconds: number): Promise<void> {
      const at = Math.max(seconds, now() + 1)
      await Promise.all(networks.filter(network => !halted.has(network)).map(({ clock }) => clock.mineAt(at)))
    },
    isHalted: () => halted.size > 0,
    standsStill: (chainId: number) => [...halted.keys()].some(({ local }) => local.chainId === chainId),
    /** One of several stands still, some for an hour at least; at least one goes on. */
    halt(random: Random): Network | null {
      if (halted.size + 1 >= networks.length) return null
      const network = random.pick(networks)
      if (halted.has(network)) return null
      halted.set(network, { since: now(), until: now() + (random.chance(0.5) ? HOUR_S : 0) })
      return network
    },
    /** Answers for how long each of those that go on stood still; all of them do when their time does not matter. */
    resume: ({ all = false } = {}): number[] =>
      [...halted].filter(([, { until }]) => all || until <= now()).map(([network]) => goesOn(network)),
  }
}
export type Time = ReturnType<typeof createTime>
