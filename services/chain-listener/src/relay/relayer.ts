import { every, type Logger, type Loop, type Metrics } from '@ponte/service-kit'
import type { Wallet } from 'ethers'
import type { ChainClient } from '../rpc/chain-client'
import { RpcError } from '../rpc/error'
import { NoNodeError } from '../rpc/pool'
import type { Leader } from '../store/leader'
import { LeaseLostError } from '../store/lease'
import { createAuthorized } from './authorized'
import { createNonceLine } from './nonce-line'
import type { AuthorizationStore } from './store/authorizations'
import type { PayableStore } from './store/payables'
import type { Outcome, Relay, RelayStore } from './store/transactions'
import { createSweeps } from './sweeps'

export interface RelayerOptions {
  chainId: number
  token: string
  routers: readonly string[]
  wallet: Wallet
  chain: ChainClient
  payables: PayableStore
  relays: RelayStore
  authorizations: AuthorizationStore
  leader: Leader
  /** The last block that is confirmed: -1 before the first one, undefined while nothing is known. */
  confirmed(): number | undefined
  /** What can be swept has changed: the scan publishes it. */
  changed(): void
  minUnits: bigint
  batchMax: number
  ceiling: bigint
  stuckMs: number
  pollMs: number
  metrics: Metrics
  now: () => Date
  logger: Logger
}

/** Sweeps deposits and submits payers' signatures, in the replica that leads. */
export function createRelayer(options: RelayerOptions) {
  const { chain, leader, payables, relays, authorizations, now, logger, metrics } = options
  const counted = countersOf(metrics)
  const line = createNonceLine({
    ...{ chain, store: relays, wallet: options.wallet, chainId: options.chainId },
    ...{ ceiling: options.ceiling, stuckMs: options.stuckMs, now, logger, counted },
    async finished(relay, outcome, receipt) {
      const [epoch, orderId] = [leader.epoch(), relay.orderIds[0]]
      if (relay.kind !== 'authorization' || epoch === undefined || orderId === undefined) return
      const { payer, salt } = relay
      if (payer === null || salt === null) return
      const payable = await payables.find(orderId)
      // A reverted or replaced one is looked at again: what became of its nonce is for the chain to say.
      const end = outcome === 'done' ? { state: 'paid' as const, txHash: receipt?.hash ?? null } : { state: 'accepted' as const }
      if (payable) await authorizations.settle(epoch, { memo: payable.memo, payer, salt }, end, now())
    },
  })
  const sweeps = createSweeps({ ...options, store: payables, line })
  const authorized = createAuthorized({ chain, token: options.token, store: authorizations, line, now, logger })
  let looked = -1

  const turn = async (): Promise<boolean> => {
    const [epoch, block] = [leader.epoch(), options.confirmed()]
    if (epoch === undefined || block === undefined || block < 0) return false
    try {
      await line.follow(epoch, block)
      const more = await sweeps.look(epoch, block)
      if (!more) looked = block
      const submitted = [await authorized.submitDue(epoch), await sweeps.sweepDue(epoch, block)]
      return more || submitted.includes(true)
    } catch (error) {
      if (error instanceof LeaseLostError) leader.resign(error.message)
      else if (error instanceof NoNodeError || error instanceof RpcError) logger.warn('the relayer waits for the chain', { error })
      else throw error
      return false
    }
  }
  const loop: Loop = every('relayer', options.pollMs, turn, logger)
  observe(options, line)
  return {
    ...loop,
    address: line.address,
    async busy() {
      if (leader.epoch() === undefined) return false
      if ((await loop.busy?.()) === true || looked !== options.confirmed()) return true
      if (line.outOfGas()) return false
      const due = await payables.due(now(), { minUnits: options.minUnits, routers: options.routers, limit: 1 })
      return due.length > 0 || (await relays.open(line.address.toLowerCase())).length > 0 || (await authorizations.due(now(), 1)).length > 0
    },
  }
}

function observe(
  { metrics, payables, authorizations, chain, minUnits, now }: RelayerOptions,
  line: ReturnType<typeof createNonceLine>,
): void {
  const age = (since: Date | null) => (since ? Math.max(0, (now().getTime() - since.getTime()) / 1_000) : 0)
  metrics.observed(
    'ponte_relayer_balance_ether',
    "Native coin of the relayer's account",
    async () => Number((await chain.account(line.address)).balance / 10n ** 9n) / 1e9,
  )
  metrics.observed('ponte_relayer_sweeps_affordable', "Sweeps that the relayer's account can pay for at the present price", async () => {
    const [{ balance }, { baseFee, tip }] = [await chain.account(line.address), await chain.market()]
    return Number(balance / (100_000n * (baseFee + tip || 1n)))
  })
  metrics.observed('ponte_relayer_starved', '1 while the account cannot pay for the next transaction', () => (line.outOfGas() ? 1 : 0))
  metrics.observed('ponte_relayer_unmined', 'Transactions sent and not mined', line.unmined)
  metrics.observed('ponte_deposits_waiting', 'Deposit addresses that hold money', async () => (await payables.totals(minUnits)).addresses)
  metrics.observed('ponte_deposits_oldest_age_seconds', 'Since when the oldest deposit that is worth its sweep waits', async () =>
    age((await payables.totals(minUnits)).oldestDue),
  )
  metrics.observed(
    'ponte_deposits_blocked',
    'Deposit addresses that hold money which cannot be swept',
    async () => (await payables.totals(minUnits)).blocked,
  )
  metrics.observed('ponte_authorizations_waiting', "Payers' signatures not yet mined", async () => (await authorizations.totals()).waiting)
  metrics.observed('ponte_authorizations_oldest_age_seconds', "Since when the oldest payer's signature waits", async () =>
    age((await authorizations.totals()).oldest),
  )
}

const KINDS: readonly Relay['kind'][] = ['sweep', 'authorization']
const OUTCOMES: readonly (Outcome | 'sent' | 'repriced')[] = ['sent', 'repriced', 'done', 'reverted', 'replaced']

function countersOf(metrics: Metrics) {
  const relayed = metrics.counter('ponte_relayer_transactions_total', 'What became of relayed transactions', {
    kind: KINDS,
    outcome: OUTCOMES,
  })
  const gas = metrics.counter('ponte_relayer_gas_total', 'Gas used by relayed transactions', { kind: KINDS })
  return (outcome: string, kind: string, gasUsed = 0) => {
    relayed.inc({ kind, outcome })
    if (gasUsed > 0) gas.inc({ kind }, gasUsed)
  }
}
