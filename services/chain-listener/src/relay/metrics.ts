import type { Metrics } from '@ponte/service-kit'
import type { ChainClient } from '../rpc/chain-client'
import type { NonceLine } from './line/nonce-line'
import type { AuthorizationStore } from './store/authorizations'
import type { PayableStore } from './store/payables'
import type { Relay } from './store/transactions'

/** A line is named after what it was made for; that of payers' signatures carries refunds too, and that of sweeps recoveries. */
type LineKind = Exclude<Relay['kind'], 'refund' | 'recovery'>
export type Lines = Partial<Record<LineKind, NonceLine>>

export interface ObservedOptions {
  metrics: Metrics
  chain: ChainClient
  lines: Lines
  payables: PayableStore
  authorizations: AuthorizationStore
  minUnits: bigint
  /** Gas of one transaction of each kind, at most. */
  gas: Record<LineKind, bigint>
  now: () => Date
}

const KINDS: readonly Relay['kind'][] = ['sweep', 'authorization', 'refund', 'recovery']
const OUTCOMES: readonly string[] = [
  ...['sent', 'repriced', 'noop', 'done', 'reverted', 'replaced'],
  ...['out_of_gas', 'too_dear', 'order_budget', 'merchant_budget', 'day_budget', 'reverted_budget', 'new_merchants_budget'],
]
const REFUSALS: readonly string[] = [
  ...['wallet_reverted', 'rehearsal', 'order_signatures', 'too_dear'],
  ...['order_budget', 'merchant_budget', 'day_budget', 'reverted_budget', 'new_merchants_budget'],
]

export function relayCounters(metrics: Metrics) {
  const transactions = metrics.counter('ponte_relayer_transactions_total', 'What became of relayed transactions', {
    kind: KINDS,
    outcome: OUTCOMES,
  })
  const gas = metrics.counter('ponte_relayer_gas_total', 'Gas used by relayed transactions', { kind: KINDS })
  const spent = metrics.counter('ponte_relayer_spent_usdc_total', 'What gas has cost, in USDC by COIN_USDC', { kind: KINDS })
  const refused = metrics.counter('ponte_authorizations_refused_total', "Payers' signatures that were not taken", { reason: REFUSALS })
  return {
    refused: (reason: string) => refused.inc({ reason }),
    counted(outcome: string, kind: string, cost?: { gas: number; units: bigint }) {
      transactions.inc({ kind, outcome })
      if (!cost) return
      gas.inc({ kind }, cost.gas)
      const micros = cost.units
      spent.inc({ kind }, Number(micros) / 1e6)
    },
  }
}

export function observeRelay({ metrics, chain, lines, payables, authorizations, minUnits, gas, now }: ObservedOptions): void {
  const age = (since: Date | null) => (since ? Math.max(0, (now().getTime() - since.getTime()) / 1_000) : 0)
  for (const [kind, line] of Object.entries(lines) as [LineKind, NonceLine][]) {
    const of = kind === 'sweep' ? 'sweeps' : 'signatures'
    const account = async () => chain.account(await line.address())
    metrics.observed(`ponte_relayer_${of}_balance_ether`, `Native coin of the account that pays for ${of}`, async () => {
      return Number((await account()).balance / 10n ** 9n) / 1e9
    })
    metrics.observed(`ponte_relayer_${of}_affordable`, `How many more ${of} their account can pay for at the present price`, async () => {
      const [{ balance }, { baseFee, tip }] = [await account(), await chain.market()]
      return Number(balance / ((gas[kind] / 2n) * (baseFee + tip || 1n)))
    })
    metrics.observed(`ponte_relayer_${of}_starved`, `1 while the account cannot pay for the next of the ${of}`, async () =>
      (await line.affords(gas[kind])) ? 0 : 1,
    )
    metrics.observed(`ponte_relayer_${of}_unmined`, `Transactions for ${of} that were sent and are not mined`, line.unmined)
    metrics.observed(
      `ponte_relayer_${of}_least_worth_usdc`,
      `What is worth less waits, or is refused, at the present price of gas`,
      async () => {
        return Number(await line.leastWorth(gas[kind])) / 1e6
      },
    )
    metrics.observed(`ponte_relayer_${of}_budget_used`, `The part of the day's budget for ${of} that is spent`, async () => {
      return (await line.budgetUsed(kind)).all
    })
    metrics.observed(
      `ponte_relayer_${of}_new_merchants_budget_used`,
      `The part of new merchants' budget for ${of} that is spent`,
      async () => {
        return (await line.budgetUsed(kind)).newMerchants
      },
    )
  }
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
