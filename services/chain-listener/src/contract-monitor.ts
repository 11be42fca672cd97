import { DeploymentMismatchError, type ExpectedDeployment, readContractState, verifyDeployment } from '@ponte/payment-router'
import { every, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import type { Nodes } from './rpc/pool'
import type { Store } from './store'
import type { Leader } from './store/leader'

export interface ContractMonitorOptions {
  store: Store
  nodes: Nodes
  leader: Leader
  chainId: number
  token: string
  routers: readonly string[]
  /** Accounts that the token should not block, besides routers and fee receivers. */
  accounts(): Promise<readonly string[]>
  /** Verified again as at the start; undefined on a chain where it was not. */
  expected: Omit<ExpectedDeployment, 'routerAddress'> | undefined
  startBlock: number
  /** The newest confirmed blocks in which payments without a fee are looked for. */
  newestBlocks: number
  everyS: number
  metrics: Metrics
  now: () => Date
  logger: Logger
}

/**
 * Looks for what the token's issuer or strangers did to the contracts since the start: docs/threat-model.md names what follows for whom. It asks one
 * node and only reports. The leader alone looks.
 */
export function createContractMonitor(options: ContractMonitorOptions): Part {
  const { store, nodes, leader, token, routers, expected, metrics, now, logger } = options
  const gauges = {
    implementation: metrics.gauge('ponte_token_implementation_info', "1 for the implementation behind the token's proxy", [
      'chain_id',
      'implementation',
    ]),
    paused: metrics.gauge('ponte_token_paused', '1 while the token is paused'),
    blocked: metrics.gauge('ponte_token_blocked', '1 for a router, fee receiver or relayer that the token blocks', ['account']),
    strays: metrics.gauge('ponte_router_strays', '1 for a router, or its implementation, that holds the token or native coin', [
      'account',
      'asset',
    ]),
    withoutFee: metrics.gauge(
      'ponte_router_payments_without_fee',
      'Payments of the newest blocks in which a fee was due and none was taken',
    ),
    differences: metrics.gauge('ponte_deployment_differences', 'What stands on the chain and is not as configured'),
  }
  /** A router's state is logged once, not with every look. */
  const reported = new Map<string, string>()
  let finishedAt: Date | undefined

  const differencesOf = async (routerAddress: string): Promise<readonly string[]> => {
    if (!expected) return []
    try {
      await nodes.use('call', ({ provider }) => verifyDeployment(provider, { ...expected, routerAddress }))
      return []
    } catch (error) {
      if (!(error instanceof DeploymentMismatchError)) throw error
      return error.differences
    }
  }
  const look = async (confirmed: number) => {
    const accounts = await options.accounts()
    const fromBlock = Math.max(options.startBlock, confirmed - options.newestBlocks + 1)
    const found = []
    for (const routerAddress of routers) {
      const watched = { usdcAddress: token, routerAddress, accounts, fromBlock, toBlock: confirmed }
      const state = await nodes.use('call', ({ provider }) => readContractState(provider, watched))
      found.push({ router: routerAddress, differences: await differencesOf(routerAddress), ...state })
    }
    return found
  }
  const report = (router: string, state: object) => {
    const text = JSON.stringify(state)
    if (reported.get(router) !== text) logger.info('what the chain shows of the contracts', { router, ...state })
    reported.set(router, text)
  }
  const turn = async (): Promise<void> => {
    const confirmed = leader.epoch() === undefined ? -1 : Number((await store.position.row())?.confirmedNumber ?? -1)
    const found = confirmed < 0 ? [] : await look(confirmed)
    for (const gauge of Object.values(gauges)) gauge.reset()
    finishedAt = found.length > 0 ? now() : undefined
    for (const { router, tokenImplementation, tokenPaused, blocked, strays, withoutFee, differences } of found) {
      gauges.implementation.set({ chain_id: options.chainId, implementation: tokenImplementation }, 1)
      gauges.paused.set(tokenPaused ? 1 : 0)
      for (const account of blocked) gauges.blocked.set({ account }, 1)
      for (const { account, asset } of strays) gauges.strays.set({ account, asset }, 1)
      gauges.withoutFee.inc(withoutFee.length)
      gauges.differences.inc(differences.length)
      const state = { implementation: tokenImplementation, paused: tokenPaused, blocked, without_fee: withoutFee, differences }
      report(router, { ...state, strays: strays.map(({ account, asset, amount }) => `${amount} of ${asset} at ${account}`) })
    }
  }
  // A leader that never finished a look answers 0, so that the alert fires.
  metrics.observed(
    'ponte_contract_monitor_last_run_timestamp_seconds',
    'When the contracts were last looked at; only the leader looks',
    () => (leader.epoch() === undefined ? Number.NaN : (finishedAt?.getTime() ?? 0) / 1_000),
  )
  return every('contract monitor', options.everyS * 1_000, turn, logger)
}
