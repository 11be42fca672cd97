import { every, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import type { Watch } from '../logs/filter'
import type { SeenPayment } from '../logs/payment-received'
import { toDeposits } from '../logs/transfer'
import type { Payment } from '../payment'
import type { ChainClient } from '../rpc/chain-client'
import { RpcError } from '../rpc/error'
import type { Nodes } from '../rpc/pool'
import { fetchRange } from '../scan/fetch'
import type { Store } from '../store'
import type { Leader } from '../store/leader'
import { compare, compareBalances, type DepositLedger, type Difference } from './compare'
import { FIRST_ORDER, type ReconcileStore } from './store'

export interface ReconcileOptions {
  store: Store
  ledgers: ReconcileStore
  nodes: Nodes
  chain: ChainClient
  leader: Leader
  chainId: number
  routers: readonly string[]
  token: string
  startBlock: number
  /** The newest confirmed blocks that are compared at every turn. */
  newestBlocks: number
  everyS: number
  metrics: Metrics
  now: () => Date
  logger: Logger
}

/** Blocks of the history compared in one turn. */
export const SPAN_MAX = 5_000
/** Deposit addresses compared in one turn: the newest, and as many of the others in turn. */
const ADDRESSES_AT_ONCE = 2_000

/** What was compared: up to which block, the rows there, and where they and the chain differ. */
export interface Comparison {
  confirmed: number
  to: number
  payments: Payment[]
  differences: Difference[]
}

export type Reconcile = ReturnType<typeof createReconcile>

/**
 * Holds the rows against the chain, past the cursor that wrote them: the newest confirmed blocks and addresses at every turn, and the whole
 * history bit by bit, over and over. Transfers are compared by balances, which cost a node less than all transfers of the token. A difference
 * counts until a later look finds it no more; an address that holds what the rows do not explain is read again once.
 */
export function createReconcile({ store, ledgers, nodes, chain, leader, metrics, now, logger, ...options }: ReconcileOptions) {
  const watched = (transfers: 'all' | 'none'): Watch => ({
    chainId: options.chainId,
    routers: options.routers,
    token: options.token,
    transfers,
  })
  const found = new Map<string, Difference>()
  const readAgain = new Set<string>()
  let finishedAt: Date | undefined
  let nextBlock = options.startBlock
  let nextOrder = FIRST_ORDER

  const readChain = async (from: number, to: number, transfers: 'all' | 'none'): Promise<SeenPayment[]> => {
    try {
      const seen = await nodes.use(node => fetchRange(node, watched(transfers), from, to))
      return [...seen.payments, ...toDeposits(seen.transfers, await store.deposits.issued(seen.transfers.map(one => one.to)))]
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind !== 'too_wide' || from === to) throw error
      const middle = Math.floor((from + to) / 2)
      return [...(await readChain(from, middle, transfers)), ...(await readChain(middle + 1, to, transfers))]
    }
  }
  /** Nothing above what was confirmed before the chain is asked is judged. */
  const compareRange = async (from: number, wantedTo: number, transfers: 'all' | 'none'): Promise<Comparison> => {
    const confirmed = Number((await store.position.row())?.confirmedNumber ?? -1)
    const to = Math.min(wantedTo, confirmed)
    if (from > to) return { confirmed, to, payments: [], differences: [] }
    const onChain = await readChain(from, to, transfers)
    const payments = await store.payments.between(from, to)
    const compared = transfers === 'all' ? payments : payments.filter(({ kind }) => kind !== 'transfer')
    return { confirmed, to, payments, differences: compare(onChain, compared) }
  }
  const note = (key: string, difference: Difference): void => {
    found.set(key, difference)
    logger.error('the books and the chain differ', { ...difference })
  }
  const lookAtBlocks = async (from: number, to: number): Promise<void> => {
    const { differences } = await compareRange(from, to, 'none')
    for (const [key, { kind, blockNumber }] of found) if (kind !== 'balance' && blockNumber >= from && blockNumber <= to) found.delete(key)
    for (const difference of differences) note(`${difference.kind} ${difference.txHash} ${difference.logIndex}`, difference)
  }
  const lookAtAddresses = async (after: string, block: number): Promise<DepositLedger[]> => {
    const some = await ledgers.ledgers(after, block, ADDRESSES_AT_ONCE)
    const balances = await chain.balances(
      some.map(({ address }) => address),
      block,
    )
    for (const [index, one] of some.entries()) {
      const key = `balance ${one.orderId}`
      found.delete(key)
      const [difference] = compareBalances([one], [balances[index] ?? 0n], block)
      if (!difference) continue
      note(key, difference)
      if (readAgain.has(one.orderId)) continue
      readAgain.add(one.orderId)
      await ledgers.readAgain([one.orderId])
    }
    return some
  }
  const turn = async (): Promise<void> => {
    if (leader.epoch() === undefined) {
      found.clear()
      finishedAt = undefined
      return
    }
    const confirmed = Number((await store.position.row())?.confirmedNumber ?? -1)
    if (confirmed < 0) return
    await lookAtBlocks(Math.max(options.startBlock, confirmed - options.newestBlocks + 1), confirmed)
    if (nextBlock > confirmed) nextBlock = options.startBlock
    const to = Math.min(confirmed, nextBlock + SPAN_MAX - 1)
    await lookAtBlocks(nextBlock, to)
    nextBlock = to + 1
    await lookAtAddresses(await ledgers.olderThanNewest(ADDRESSES_AT_ONCE), confirmed)
    const some = await lookAtAddresses(nextOrder, confirmed)
    nextOrder = some.length < ADDRESSES_AT_ONCE ? FIRST_ORDER : (some.at(-1)?.orderId ?? FIRST_ORDER)
    finishedAt = now()
  }
  metrics.observed('ponte_reconcile_differences', 'Differences between the chain and the books; only the leader looks', () =>
    finishedAt ? found.size : Number.NaN,
  )
  metrics.observed('ponte_reconcile_last_run_timestamp_seconds', 'When the books were last held against the chain', () =>
    finishedAt ? finishedAt.getTime() / 1_000 : Number.NaN,
  )

  const part: Part = every('reconciliation', options.everyS * 1_000, turn, logger)
  return { part, compareRange: (from: number, to: number) => compareRange(from, to, 'all') }
}
