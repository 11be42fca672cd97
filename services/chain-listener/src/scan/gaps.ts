import { NO_MEMO } from '@ponte/contracts'
import type { Logger } from '@ponte/service-kit'
import type { Watch } from '../logs/filter'
import { type Deposit, toDeposits, withoutMoved } from '../logs/transfer'
import type { TimedPayment } from '../payment'
import { RpcError } from '../rpc/error'
import { type Nodes, NoNodeError } from '../rpc/pool'
import type { Covered } from '../store/commit'
import { type CoverageStore, type Gap, TRANSFERS } from '../store/coverage'
import type { Steps } from './apply'
import type { Votes } from './checks/quorum'
import { UndecidedError } from './checks/reach'
import { type FindDeposits, ForkedError, fetchBackfill, questionOf } from './fetch'
import type { ScanSession } from './session'

export interface GapsOptions {
  store: CoverageStore
  findDeposits: FindDeposits
  nodes: Nodes
  watch: Watch
  votes: Votes
  steps: Steps
  logger: Logger
  /** Something was read, and is to be applied in the next turn. */
  wake(): void
}

/** Subjects brought forward by one range. */
const SUBJECTS_AT_ONCE = 5_000
/** Most blocks of one question; a node answers as many of them as it bears. */
const BLOCKS_AT_ONCE = 1_000
/** With more recipients than this, reading every transfer costs a node less than so many filters. */
const RECIPIENTS_MAX = 1_000
/** A refused question rests for this time. */
const LOWEST_REST_MS = 10_000
const NEWEST_REST_MS = 1_000
const BEFORE_ALL = -2

type Work = (session: ScanSession) => Promise<Found | undefined>

const EXPECTED = [UndecidedError, ForkedError, RpcError, NoNodeError]

interface Found {
  covered: Covered
  payments: TimedPayment[]
}

/**
 * Reads blocks that the scan has passed, for routers and addresses that did not know of them: the newest gap, so that a new order waits for no old one,
 * and the lowest, so that none waits for ever. One question of each is under way beside the scan, which waits for neither and applies what they bring.
 */
export function createGaps({ store, findDeposits, nodes, watch, votes, steps, logger, wake }: GapsOptions) {
  /** Blocks that were refused rest for a while; gaps that begin above ask for none of them. */
  let refused = { to: BEFORE_ALL, until: Number.NEGATIVE_INFINITY }
  let newestFrom = Number.NEGATIVE_INFINITY
  /** Blocks per question: fewer after a refusal, so that a range that no node gives holds up ever less beside it. */
  const windows = new Map<Work, number>()
  const windowOf = (work: Work) => windows.get(work) ?? BLOCKS_AT_ONCE
  /** Read but not applied yet, by its reader. */
  const found = new Map<Work, Found & Pick<ScanSession, 'epoch' | 'reorganisations'>>()
  const asking = new Set<Work>()

  const read = async ({ cursor }: ScanSession, gaps: readonly Gap[], from: number, to: number): Promise<Found> => {
    const covered = { subjects: gaps.map(({ subject }) => subject), from, to }
    const first = Math.max(from, cursor.startBlock)
    if (first > to) return { covered, payments: [] }
    const byAddress = new Map<string, Deposit>(gaps.flatMap(({ deposit }) => (deposit ? [[deposit.address, deposit]] : [])))
    const isAll = covered.subjects.includes(TRANSFERS)
    const recipients = [...byAddress.keys()]
    const transfers: Watch['transfers'] = isAll || recipients.length > RECIPIENTS_MAX ? 'all' : recipients.length > 0 ? recipients : 'none'
    // Of what came to a payout address only their logs tell what a router moved there.
    const needsRouters = isAll || gaps.some(({ deposit }) => deposit?.memo === NO_MEMO)
    const routers = watch.routers.filter(router => needsRouters || covered.subjects.includes(router))
    const as = {
      watch: { ...watch, routers, transfers },
      findDeposits: async (seen: Parameters<FindDeposits>[0]) =>
        isAll ? new Map([...(await findDeposits(seen)), ...byAddress]) : byAddress,
    }
    const answer = await nodes.useAnother(questionOf(as.watch), node => fetchBackfill(node, as.watch, { from: first, to }, cursor.scanned))
    const { last } = answer
    const shown = withoutMoved([...answer.payments, ...toDeposits(answer.transfers, await as.findDeposits(answer.transfers))])
    const payments = await votes.withProven({ from: first, to: last.number, blocks: [] }, shown, as)
    const verdict = await votes.onRange(first, last, payments, { as })
    const believed = verdict.kind === 'ours' ? payments : verdict.kind === 'theirs' ? verdict.payments : undefined
    if (!believed) throw new UndecidedError(`the RPC end points do not agree on blocks ${first} to ${last.number}, read for what was added`)
    return { covered: { ...covered, to: last.number }, payments: believed }
  }
  /** A refused range is asked for later. */
  const attempt = async (
    lane: Work,
    work: () => Promise<Found>,
    about: Record<string, unknown>,
    rest: () => void,
  ): Promise<Found | undefined> => {
    try {
      const one = await work()
      windows.set(lane, Math.min(BLOCKS_AT_ONCE, windowOf(lane) * 2))
      return one
    } catch (error) {
      windows.set(lane, Math.max(1, Math.floor(windowOf(lane) / 2)))
      if (EXPECTED.some(kind => error instanceof kind)) {
        rest()
        logger.warn('earlier blocks cannot be read now', { ...about, error })
      } else logger.error('earlier blocks were not read', { ...about, error })
      return undefined
    }
  }
  const endOf = (gap: Gap, scanned: number) => Math.min(scanned, gap.to ?? scanned)
  const newest: Work = async session => {
    if (performance.now() < newestFrom) return undefined
    const scanned = session.cursor.scanned.number
    const gaps = await store.newest(scanned - windowOf(newest), SUBJECTS_AT_ONCE, watch.routers)
    if (gaps.length === 0) return undefined
    const from = Math.min(...gaps.map(gap => gap.from))
    const to = Math.max(...gaps.map(gap => endOf(gap, scanned)))
    const rest = () => {
      newestFrom = performance.now() + NEWEST_REST_MS
    }
    return attempt(newest, () => read(session, gaps, from, to), { from, to, subjects: gaps.length }, rest)
  }
  const lowest: Work = async session => {
    const scanned = session.cursor.scanned.number
    const above = performance.now() < refused.until ? refused.to : BEFORE_ALL
    const [first, ...others] = await store.lowest(above, SUBJECTS_AT_ONCE, watch.routers)
    // The newest are read beside it.
    if (!first || first.from > scanned - windowOf(newest)) return undefined
    const from = first.from
    const to = Math.min(endOf(first, scanned), Math.max(from, session.cursor.startBlock) + windowOf(lowest) - 1)
    const gaps = [first, ...others.filter(gap => gap.from <= to)]
    const rest = () => {
      refused = { to, until: performance.now() + LOWEST_REST_MS }
    }
    return attempt(lowest, () => read(session, gaps, from, to), { from, to, subjects: gaps.length }, rest)
  }
  return {
    /** Asks for the next gaps, where none are being asked for. */
    begin(session: ScanSession): void {
      // The scan goes on meanwhile; what it has passed by now is what is asked for.
      const at = { ...session }
      for (const work of [newest, lowest]) {
        if (asking.has(work) || found.has(work)) continue
        asking.add(work)
        void work(at)
          .then(one => {
            if (!one) return
            found.set(work, { ...one, epoch: at.epoch, reorganisations: at.reorganisations })
            wake()
          })
          .catch((error: unknown) => logger.error('what is missing is not known', { error }))
          .finally(() => asking.delete(work))
      }
    },
    /** Applies what was read meanwhile, if it still belongs to our chain; answers whether anything was read. */
    async apply(session: ScanSession): Promise<boolean> {
      const read = [...found]
      for (const [work, { covered, payments, epoch, reorganisations }] of read) {
        found.delete(work)
        if (epoch === session.epoch && reorganisations === session.reorganisations) await steps.applyGap(session, payments, covered)
      }
      return read.length > 0
    },
  }
}
export type Gaps = ReturnType<typeof createGaps>
