import type { Logger } from '@ponte/service-kit'
import type { Watch } from '../logs/filter'
import { type Deposit, toDeposits } from '../logs/transfer'
import type { TimedPayment } from '../payment'
import { RpcError } from '../rpc/error'
import { type Nodes, NoNodeError } from '../rpc/pool'
import type { DepositStore, UnsyncedDeposit } from '../store/deposits'
import type { RescanStore, Span } from '../store/rescans'
import type { AddedRouters } from '../store/routers'
import type { Steps } from './apply'
import type { Votes } from './checks/quorum'
import { UndecidedError } from './checks/reach'
import { type FindDeposits, fetchBackfill } from './fetch'
import { createPace } from './pace'
import type { ScanSession } from './session'

export interface BackfillOptions {
  store: DepositStore
  rescans: RescanStore
  /** How the scan finds deposits; for blocks that are read once more. */
  findDeposits: FindDeposits
  nodes: Nodes
  watch: Watch
  votes: Votes
  steps: Steps
  rangeMax: number
  logger: Logger
  /** The first address is synced: from now on the scan reads transfers. */
  synced(): void
}

/** Deposits brought forward by one range. */
const DEPOSITS_AT_ONCE = 5_000
/** What was read up to here was not read at all. */
const BEFORE_ALL = -1
/** With more recipients than this, reading every transfer costs a node less than so many filters. */
const RECIPIENTS_MAX = 1_000
const RETRY_MS = 10_000

export type Backfill = ReturnType<typeof createBackfill>

/**
 * Reads what the scan has passed, for routers and deposit addresses that it did not know then: a range from one node, put to the same vote as
 * everything else, applied with how far it has come.
 */
export function createBackfill({ store, rescans, nodes, watch, votes, steps, logger, ...options }: BackfillOptions) {
  const pace = createPace(options.rangeMax, logger)
  /** What was refused rests for a while, and holds up nothing else. Deposits read further than `to` ask for none of the blocks that were refused. */
  let refused = { to: BEFORE_ALL, until: Number.NEGATIVE_INFINITY }
  const resting = new Map<string, Span & { until: number }>()

  const readRange = async (
    { cursor }: ScanSession,
    { from, to }: { from: number; to: number },
    as: { watch: Watch; findDeposits: FindDeposits },
    ask: Nodes['use'] = nodes.use,
  ): Promise<TimedPayment[]> => {
    const { last, payments, transfers, ...answer } = await ask(node => fetchBackfill(node, as.watch, from, to, cursor.scanned))
    pace.grow(answer)
    const seen = [...payments, ...toDeposits(transfers, await as.findDeposits(transfers))]
    if ((await votes.onRange(from, last, seen, as)) !== 'ours')
      throw new UndecidedError(`the RPC end points do not agree on blocks ${from} to ${to}, read for what was added`)
    return seen
  }
  const readDeposits = async (session: ScanSession, deposits: readonly UnsyncedDeposit[], to: number): Promise<void> => {
    const scanned = session.cursor.scanned.number
    const from = Math.max(Math.min(...deposits.map(({ readTo }) => readTo)) + 1, session.cursor.startBlock)
    const byAddress = new Map<string, Deposit>(deposits.map(deposit => [deposit.address, deposit]))
    const recipients = [...byAddress.keys()]
    const transfers: Watch['transfers'] = recipients.length > RECIPIENTS_MAX ? 'all' : recipients
    const as = { watch: { ...watch, routers: [], transfers }, findDeposits: async () => byAddress }
    const payments = from > to ? [] : await readRange(session, { from, to }, as)
    const orderIds = deposits.map(({ orderId }) => orderId)
    await steps.applyBackfill(session, payments, { deposits: { orderIds, readTo: to, synced: to >= scanned } })
    if (to >= scanned) options.synced()
  }
  /** A range that is refused is read in smaller ones, or later: the scan goes on meanwhile. */
  const attempt = async (work: () => Promise<void>, about: Record<string, unknown>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      if (error instanceof RpcError && error.kind === 'too_wide' && pace.shrink(error)) return true
      if (!(error instanceof UndecidedError || error instanceof RpcError || error instanceof NoNodeError)) throw error
      logger.warn('earlier blocks cannot be read now', { ...about, error })
      return false
    }
  }
  /** Until these are read, none of their orders expires. */
  const attemptDeposits = (session: ScanSession, deposits: readonly UnsyncedDeposit[], to: number): Promise<boolean> =>
    attempt(() => readDeposits(session, deposits, to), { to, deposits: deposits.length })
  /** Those that one range makes level: a long backfill holds them up no more than they do it. */
  const nextRecent = async (session: ScanSession): Promise<boolean> => {
    const scanned = session.cursor.scanned.number
    const recent = await store.unsyncedFrom(scanned - pace.blocks(), DEPOSITS_AT_ONCE)
    return recent.length > 0 && attemptDeposits(session, recent, scanned)
  }
  const nextOlder = async (session: ScanSession): Promise<boolean> => {
    const scanned = session.cursor.scanned.number
    const from = performance.now() < refused.until ? refused.to : BEFORE_ALL
    const [first, ...others] = await store.unsyncedBetween(from, scanned - pace.blocks(), DEPOSITS_AT_ONCE)
    if (!first) return false
    const to = Math.min(scanned, Math.max(first.readTo, session.cursor.startBlock - 1) + pace.blocks())
    const isRead = await attemptDeposits(session, [first, ...others.filter(({ readTo }) => readTo < to)], to)
    if (!isRead) refused = { to, until: performance.now() + RETRY_MS }
    return isRead
  }
  const restingNow = (): Span[] => {
    for (const [key, { until }] of resting) if (until <= performance.now()) resting.delete(key)
    return [...resting.values()]
  }
  return {
    /**
     * One range of blocks that are read once more, from another node than the scan reads from where there is one; answers whether there is more.
     * What was missing is published as if it were seen now, and what is known is not published twice.
     */
    async nextRescan(session: ScanSession): Promise<boolean> {
      const rescan = await rescans.next(restingNow())
      if (!rescan) return false
      const from = Math.max(rescan.readTo + 1, session.cursor.startBlock)
      const end = Math.min(rescan.to, session.cursor.scanned.number)
      const to = Math.min(end, from + pace.blocks() - 1)
      const readTo = to >= end ? rescan.to : to
      const as = { watch, findDeposits: options.findDeposits }
      const work = async () => {
        const payments = from > to ? [] : await readRange(session, { from, to }, as, nodes.useAnother)
        await steps.applyBackfill(session, payments, { rescan: { ...rescan, readTo } })
        logger.info('blocks were read once more', { from, to, payments: payments.length })
      }
      const isRead = await attempt(work, { from, to })
      if (!isRead) resting.set(`${rescan.from} ${rescan.to}`, { ...rescan, until: performance.now() + RETRY_MS })
      return isRead
    },
    /** A range each for new and for older deposit addresses that are not synced; answers whether there is more to read at once. */
    async nextDeposits(session: ScanSession): Promise<boolean> {
      const moreRecent = await nextRecent(session)
      return (await nextOlder(session)) || moreRecent
    },

    /**
     * One range for added routers. The scan waits meanwhile, and with it expiry: an order that was paid through such a router must not expire
     * before its payment is known.
     */
    async nextRouters(session: ScanSession, { addresses, readTo }: AddedRouters): Promise<{ from: number; to: number }> {
      const scanned = session.cursor.scanned.number
      const [from, to] = [readTo + 1, Math.min(scanned, readTo + pace.blocks())]
      const as = { watch: { ...watch, routers: addresses, transfers: 'none' as const }, findDeposits: async () => new Map() }
      try {
        // After a reorganisation the cursor may stand below: the scan itself reads on from there, for all routers.
        const payments = from > to ? [] : await readRange(session, { from, to }, as)
        await steps.applyBackfill(session, payments, { routersReadTo: to >= scanned ? null : to })
        return { from, to }
      } catch (error) {
        if (error instanceof RpcError && error.kind === 'too_wide' && pace.shrink(error)) return { from, to: readTo }
        throw error
      }
    },
  }
}
