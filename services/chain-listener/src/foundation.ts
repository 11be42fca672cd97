import { DeploymentMismatchError, profileOf } from '@ponte/payment-router'
import type { Overrides as KitOverrides, Logger, Metrics, Part } from '@ponte/service-kit'
import type { ChainListenerConfig } from './config'
import { openChainClient } from './rpc/chain-client'
import { createDeploymentCheck } from './rpc/deployment'
import { restReasons } from './rpc/health'
import { openNode } from './rpc/node'
import { openNodes } from './rpc/pool'
import { quorumOf } from './scan/checks/quorum'
import { createTransactionReader } from './transaction'

/** Handed in by all-in-one or a test, and stopped by them. */
export interface Overrides extends KitOverrides {
  /** Milliseconds that never go back: how long an RPC node rests is measured by it. */
  clock?: () => number
}

export interface FoundationOptions {
  overrides: Overrides
  metrics: Metrics
  logger: Logger
  /** Called when the chain's contracts are not the configured ones. */
  halt(error: Error): void
}

/** Shared by both programs, the listener and the relayer: the nodes, and the check of the contracts on the chain. */
export function openFoundation(config: ChainListenerConfig, { overrides, metrics, logger, halt }: FoundationOptions) {
  const endpoints = config.RPC_URLS.map((url, index) =>
    openNode(url, index, {
      chainId: config.CHAIN_ID,
      timeoutMs: config.RPC_TIMEOUT_MS,
      maxBytes: config.RPC_MAX_BYTES,
      rangeMax: config.RANGE_MAX,
    }),
  )
  const failOvers = metrics.counter('ponte_chain_rpc_failovers_total', 'How often an RPC end point was left, and why', {
    rpc: endpoints.map(({ name }) => name),
    reason: restReasons,
  })
  const nodes = openNodes(endpoints, {
    clock: overrides.clock ?? (() => performance.now()),
    logger,
    onFailOver: (rpc, reason) => failOvers.inc({ rpc, reason }),
  })
  const quorum = quorumOf(config.RPC_URLS.length, config.RPC_QUORUM)
  const deployment = config.VERIFY_DEPLOYMENT
    ? createDeploymentCheck({
        ...{ chainId: config.CHAIN_ID, token: config.TOKEN_ADDRESS, routers: config.ROUTER_ADDRESSES },
        ...{ feeReceivers: config.FEE_RECEIVERS, feesBps: config.FEES_BPS, development: config.DEVELOPMENT_CHAIN },
        ...{ quorum, nodes, logger },
      })
    : undefined
  const rpc: Part = { name: 'rpc', ready: () => nodes.view().some(node => node.resting === null), stop: nodes.close }
  return {
    nodes,
    chain: openChainClient(nodes, chainOf(config)),
    readTransaction: createTransactionReader({
      ...{ chainId: config.CHAIN_ID, token: config.TOKEN_ADDRESS, routers: config.ROUTER_ADDRESSES, quorum, nodes },
    }),
    /** Before anything is read or relayed. */
    async verified(): Promise<void> {
      await deployment?.ensure().catch(error => {
        if (error instanceof DeploymentMismatchError) halt(error)
        throw error
      })
    },
    chainParts: [rpc, ...(deployment ? [deployment] : [])],
  }
}

export const chainOf = ({ CHAIN_ID: chainId, TOKEN_ADDRESS: token, RPC_URLS, RPC_QUORUM }: ChainListenerConfig) => ({
  chainId,
  token,
  dataFee: profileOf(chainId).dataFee,
  quorum: quorumOf(RPC_URLS.length, RPC_QUORUM),
})
