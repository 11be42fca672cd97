import type { Fault, FaultProxy, LocalChain } from '@ponte/local-servers'
import { silentLogger } from '@ponte/service-kit'
import type { AgreementOptions } from '../src/outcomes/agreement'
import { openNode } from '../src/rpc/node'
import { openNodes } from '../src/rpc/pool'
import type { Confirmed } from '../src/store/confirmed'

/** The newest block of the chain as one that is confirmed, and how two nodes are asked about it of which the second has a fault and both must agree. */
export const twoNodes = (chain: LocalChain, proxy: FaultProxy) => ({
  async head(): Promise<Confirmed> {
    const block = await chain.provider.getBlock('latest')
    return { number: block?.number ?? 0, hash: block?.hash ?? '', time: block?.timestamp ?? 0, generation: '' }
  },
  async asked<T>(fault: Fault, look: (options: AgreementOptions) => Promise<T>): Promise<T> {
    proxy.set(fault)
    const options = { chainId: chain.chainId, timeoutMs: 5_000, maxBytes: 10_000_000, rangeMax: 5_000 }
    const ones = [chain.rpcUrl, proxy.url].map((url, index) => openNode(url, index, options))
    const nodes = openNodes(ones, { clock: () => performance.now(), logger: silentLogger, onFailOver: () => undefined })
    const rules = { chainId: chain.chainId, header: null, latestTime: () => Number.POSITIVE_INFINITY }
    const found = await look({ nodes, rules, quorum: 2, window: 64 })
    await nodes.close()
    return found
  },
})
