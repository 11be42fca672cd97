import type { TrustView } from '../../proof/trust'
import type { Nodes } from '../../rpc/pool'
import type { Store } from '../../store'
import type { Leader } from '../../store/leader'
import { type Progress, progressOf } from '../progress'
import type { Scanner } from '../scanner'

/**
 * Shown to operators at `GET /status`. Block times are the chain's; a lag in seconds is between two of them, or since the leader last saw what the chain
 * has, where that is longer.
 */
export interface Status extends ScanStatus {
  /** Why nothing is read any more; a restart tries again. */
  halted: string | null
}

export interface ScanStatus {
  chain_id: number
  token_address: string
  role: 'leader' | 'standby'
  head_block: number | null
  /** Of the newest block that was read; null on a standby. */
  head_time: string | null
  scanned_block: number | null
  scanned_hash: string | null
  confirmed_block: number | null
  confirmed_time: string | null
  lag_blocks: number | null
  lag_seconds: number | null
  /** Of the listener's history; a greater one is newer. */
  generation: string | null
  catch_up: Progress | null
  rpc: ReturnType<Nodes['view']>
  /** Seconds since a node last answered, by kind of question. */
  answered_s: ReturnType<Nodes['answered']>
  /** Seconds for which each kind of question has been asked in vain; 0 while it is answered. */
  unanswered_s: ReturnType<Nodes['unanswered']>
  /** Seconds for which each end point that shows a higher head has lacked the last block that was read; 0 while one has it. */
  unlinked_s: number
  /** End points that must agree, and proofs beside them. */
  trust: TrustView
}

export interface StatusOptions {
  chainId: number
  token: string
  leader: Leader
  scanner: Scanner
  nodes: Nodes
  store: Store
  headTime(): number
  trust(): TrustView
}

/** The leader speaks from memory, a standby from the database. */
export async function statusOf(options: StatusOptions): Promise<ScanStatus> {
  const { cursor, progress, blindMs, unlinkedMs } = options.scanner.view()
  const row = await options.store.position.row()
  const number = (value: bigint | null | undefined) => (value === null || value === undefined ? null : Number(value))
  const scanned = cursor?.scanned.number ?? number(row?.scannedNumber)
  const scannedTime = cursor?.scanned.time ?? row?.scannedTime
  const highest = Math.max(options.scanner.view().head, number(row?.headNumber) ?? -1)
  const head = highest < 0 ? null : highest
  const blindS = blindMs === undefined ? null : Math.floor(blindMs / 1_000)
  const behind = head !== null && scanned !== null ? Math.max(0, head - scanned) : null
  const chainLag =
    behind === 0 ? 0 : scannedTime && options.headTime() ? Math.max(0, options.headTime() - scannedTime.getTime() / 1_000) : null
  return {
    chain_id: options.chainId,
    token_address: options.token,
    role: options.leader.epoch() === undefined ? 'standby' : 'leader',
    head_block: head,
    head_time: options.headTime() ? new Date(options.headTime() * 1_000).toISOString() : null,
    scanned_block: scanned,
    scanned_hash: cursor?.scanned.hash ?? row?.scannedHash ?? null,
    confirmed_block: cursor?.confirmed.number ?? number(row?.confirmedNumber),
    confirmed_time: (cursor?.confirmed.time ?? row?.confirmedTime)?.toISOString() ?? null,
    lag_blocks: behind,
    lag_seconds: longest(chainLag, blindS),
    generation: cursor?.generation ?? row?.generation ?? null,
    catch_up: progressOf(progress),
    rpc: options.nodes.view(),
    answered_s: options.nodes.answered(),
    unanswered_s: options.nodes.unanswered(),
    unlinked_s: Math.floor(unlinkedMs / 1_000),
    trust: options.trust(),
  }
}

const longest = (...seconds: readonly (number | null)[]): number | null =>
  seconds.reduce((most, one) => (most === null || (one !== null && one > most) ? one : most), null)
