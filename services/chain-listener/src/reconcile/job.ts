import { every, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import type { CheckpointStore } from '../checkpoints'
import type { Watch } from '../logs/filter'
import type { SeenTransfer } from '../logs/transfer'
import type { Payment } from '../payment'
import type { ChainClient } from '../rpc/chain-client'
import type { Nodes } from '../rpc/pool'
import type { Votes } from '../scan/checks/quorum'
import { fetchRange } from '../scan/fetch'
import type { Store } from '../store'
import type { Difference } from '../store/differences'
import type { Leader } from '../store/leader'
import { compare, compareBalances, type DepositLedger } from './compare'
import { FIRST_ORDER, type ReconcileStore } from './store'

export interface ReconcileOptions {
  store: Store
  ledgers: ReconcileStore
  checkpoints: Pick<CheckpointStore, 'check' | 'olderThanNewest'>
  nodes: Nodes
  chain: ChainClient
  /** Asked about a balance that differs. */
  second: ChainClient
  leader: Leader
  chainId: number
  header: Watch['header']
  latestTime(): number
  routers: readonly string[]
  token: string
  startBlock: number
  /** The newest confirmed blocks that are compared at every turn. */
  votes: Votes
  newestBlocks: number
  everyS: number
  /** Something is to be read again, or an answer to be published. */
  wake(): void
  /** These blocks were held against the chain. */
  audited(from: number, to: number): Promise<void>
  metrics: Metrics
  now: () => Date
  logger: Logger
}

/** Blocks of the history compared in one turn. */
export const SPAN_MAX = 5_000
/** Deposit addresses compared in one turn: the newest, and as many of the others in turn. */
const ADDRESSES_AT_ONCE = 2_000
/** The same of checkpoints. */
const CHECKPOINTS_AT_ONCE = 100

/** A comparison up to a block: the rows there, and where they and the chain differ. */
export interface Comparison {
  confirmed: number
  to: number
  payments: Payment[]
  differences: Difference[]
  /** False while it is not known whether the rows are wrong or the node that was asked. */
  isDecided: boolean
}

export type Reconcile = ReturnType<typeof createReconcile>

/**
 * Holds the rows against the chain, past the cursor that wrote them: the newest confirmed blocks and addresses at every turn, and the whole
 * history bit by bit, over and over. Transfers are compared by balances, which cost a node less than all transfers of the token. A difference
 * counts until a later look finds it no more; what is missing is read again, and so is an address that holds what the rows do not explain, more and
 * more rarely while that finds nothing. An order that a difference names does not expire meanwhile.
 */
export function createReconcile({ store, ledgers, checkpoints, nodes, chain, leader, metrics, now, logger, ...options }: ReconcileOptions) {
  const watched = (transfers: 'all' | 'none'): Watch => ({
    chainId: options.chainId,
    header: options.header,
    latestTime: options.latestTime,
    routers: options.routers,
    token: options.token,
    transfers,
  })
  const found = new Map<string, Difference>()
  const repeats = createRepeats()
  let epoch: bigint | undefined
  let finishedAt: Date | undefined
  let nextBlock = options.startBlock
  let nextOrder = FIRST_ORDER
  let nextCheckpoint = -1

  const findDeposits = (seen: readonly SeenTransfer[]) => store.coverage.issued(seen.map(one => one.to))
  /** Where a node, each in turn, shows other payments than the rows, receipts decide which of the two is wrong. */
  const differencesIn = async (
    from: number,
    to: number,
    watch: Watch,
    rows: readonly Payment[],
  ): Promise<Pick<Comparison, 'differences' | 'isDecided'>> => {
    const shown = await nodes.useAnother('logs', node => fetchRange(node, watch, { from, to }, findDeposits))
    const differences = compare(shown.payments, rows)
    if (differences.length === 0) return { differences, isDecided: true }
    const verdict = await options.votes.onRange(from, shown.last, shown.payments, { as: { watch, findDeposits }, alsoSeen: rows })
    if (verdict.kind === 'theirs' && verdict.payments) return { differences: compare(verdict.payments, rows), isDecided: true }
    return { differences, isDecided: verdict.kind === 'ours' }
  }
  /** Nothing above what was confirmed before the chain is asked is judged. */
  const compareRange = async (from: number, wantedTo: number, transfers: 'all' | 'none'): Promise<Comparison> => {
    const confirmed = Number((await store.position.row())?.confirmedNumber ?? -1)
    const to = Math.min(wantedTo, confirmed)
    if (from > to) return { confirmed, to, payments: [], differences: [], isDecided: true }
    const { between, routedBetween } = store.payments
    const payments = await (transfers === 'all' ? between : routedBetween)(from, to)
    return { confirmed, to, payments, ...(await differencesIn(from, to, watched(transfers), payments)) }
  }
  const note = (key: string, difference: Difference): void => {
    found.set(key, difference)
    logger.error('the books and the chain differ', { ...difference })
  }
  const lookAtBlocks = async (from: number, to: number): Promise<void> => {
    const { differences, isDecided } = await compareRange(from, to, 'none')
    if (!isDecided) return
    for (const [key, { kind, blockNumber }] of found)
      if (kind !== 'balance' && kind !== 'checkpoint' && blockNumber >= from && blockNumber <= to) found.delete(key)
    for (const difference of differences) note(`${difference.kind} ${difference.txHash} ${difference.logIndex}`, difference)
    await store.coverage.again(
      options.routers,
      blocksToRead(differences).filter(({ from }) => repeats.isDue(`block ${from}`)),
    )
  }
  /** A page of addresses after the one of an order, with where each differs from its balance. */
  const compareAddresses = async (after: string, block: number) => {
    const some = await ledgers.ledgers(after, block, ADDRESSES_AT_ONCE)
    const differing = async (these: readonly DepositLedger[], asked: ChainClient): Promise<Map<DepositLedger, Difference>> => {
      const balances = await asked.balances(
        these.map(({ address }) => address),
        block,
      )
      const differences = these.map((one, index) => [one, compareBalances([one], [balances[index] ?? 0n], block)[0]] as const)
      return new Map(differences.flatMap(([one, difference]) => (difference ? [[one, difference]] : [])))
    }
    const first = await differing(some, chain)
    // Another node, where there is one, may know better.
    const second = first.size > 0 ? await differing([...first.keys()], options.second) : first
    return some.map(one => ({ one, difference: second.get(one) }))
  }
  const lookAtAddresses = async (after: string, block: number): Promise<DepositLedger[]> => {
    const compared = await compareAddresses(after, block)
    for (const { one, difference } of compared) {
      const key = `balance ${one.orderId}`
      found.delete(key)
      if (!difference) continue
      note(key, difference)
      if (repeats.isDue(key)) await store.coverage.addressesAgain([one.orderId])
    }
    await ledgers.lookAgain(compared.flatMap(({ one, difference }) => (difference ? [] : [one])))
    return compared.map(({ one }) => one)
  }
  /** Checkpoints behind a block are hashed anew; answers the last one. */
  const lookAtCheckpoints = async (after: number): Promise<number | undefined> => {
    const { checked, misfits } = await checkpoints.check(after, CHECKPOINTS_AT_ONCE)
    found.delete(UNKNOWN_CHECKPOINT)
    for (const to of checked) found.delete(`checkpoint ${to}`)
    for (const { to, detail } of misfits) {
      const key = checked.includes(to) ? `checkpoint ${to}` : UNKNOWN_CHECKPOINT
      note(key, { kind: 'checkpoint', txHash: null, logIndex: null, blockNumber: to, memo: '', detail })
    }
    return checked.length < CHECKPOINTS_AT_ONCE ? undefined : checked.at(-1)
  }
  const turn = async (): Promise<void> => {
    const leads = leader.epoch()
    if (leads === undefined) {
      epoch = undefined
      found.clear()
      finishedAt = undefined
      return
    }
    if (leads !== epoch) {
      for (const [key, difference] of await store.differences.list()) found.set(key, difference)
      epoch = leads
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
    await lookAtCheckpoints(await checkpoints.olderThanNewest(CHECKPOINTS_AT_ONCE))
    nextCheckpoint = (await lookAtCheckpoints(nextCheckpoint)) ?? -1
    repeats.keep(new Set([...found.keys(), ...[...found.values()].map(({ blockNumber }) => `block ${blockNumber}`)]))
    await store.differences.save(found)
    options.wake()
    await options.audited(Math.max(options.startBlock, confirmed - options.newestBlocks + 1), confirmed)
    finishedAt = now()
  }
  metrics.observed('ponte_reconcile_differences', 'Differences between the chain and the books; only the leader looks', () =>
    finishedAt ? found.size : Number.NaN,
  )
  // A leader that never finished answers since when it has not, so that the alert fires.
  let led = { epoch: leader.epoch(), since: now() }
  metrics.observed(
    'ponte_reconcile_last_run_timestamp_seconds',
    'When the books were last held against the chain; only the leader looks',
    () => {
      const epoch = leader.epoch()
      if (epoch !== led.epoch) led = { epoch, since: now() }
      return epoch === undefined ? Number.NaN : Math.max(finishedAt?.getTime() ?? 0, led.since.getTime()) / 1_000
    },
  )

  /** Blocks that an operator wants read again, and the first of those that are not read yet. */
  const request = (from: number, to: number): Promise<void> => store.coverage.again(options.routers, [{ from, to }])
  /** Every address in turn, for who asks; null after the last. */
  const addresses = async (after: string | undefined): Promise<{ next: string | null; differences: Difference[] }> => {
    const confirmed = Number((await store.position.row())?.confirmedNumber ?? -1)
    const compared = confirmed < 0 ? [] : await compareAddresses(after ?? FIRST_ORDER, confirmed)
    const next = compared.length < ADDRESSES_AT_ONCE ? null : (compared.at(-1)?.one.orderId ?? null)
    return { next, differences: compared.flatMap(({ difference }) => difference ?? []) }
  }
  const pending = () => store.coverage.pending(options.routers)
  const part: Part = every('reconciliation', options.everyS * 1_000, turn, logger)
  return { part, request, pending, addresses, compareRange: (from: number, to: number) => compareRange(from, to, 'all') }
}

const UNKNOWN_CHECKPOINT = 'checkpoint unknown'

const REPEAT_MAX = 64

/** Spaces out a remedy that does not help: at the first look, then at every second, fourth, … */
function createRepeats() {
  const looks = new Map<string, { left: number; wait: number }>()
  return {
    isDue(key: string): boolean {
      const look = looks.get(key) ?? { left: 0, wait: 1 }
      if (look.left > 0) {
        looks.set(key, { ...look, left: look.left - 1 })
        return false
      }
      looks.set(key, { left: look.wait, wait: Math.min(look.wait * 2, REPEAT_MAX) })
      return true
    },
    /** Forgets what does not differ any more. */
    keep(keys: ReadonlySet<string>): void {
      for (const key of looks.keys()) if (!keys.has(key)) looks.delete(key)
    },
  }
}

const BLOCKS_AT_ONCE = 500

const blocksToRead = (differences: readonly Difference[]) =>
  [...new Set(differences.filter(({ kind }) => kind === 'missing').map(({ blockNumber }) => blockNumber))]
    .slice(0, BLOCKS_AT_ONCE)
    .map(block => ({ from: block, to: block }))
