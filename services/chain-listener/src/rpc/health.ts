import type { RpcErrorKind } from './error'

/** Why a node is left alone: what it refused with, or what we think of it. */
export type RestReason = RpcErrorKind | 'wrong_chain' | 'behind' | 'stalled' | 'outvoted' | 'foreign_chain'

const REST_REASONS: Record<RestReason, true> = {
  too_wide: true,
  beyond_head: true,
  rate_limited: true,
  unavailable: true,
  wrong_answer: true,
  other: true,
  wrong_chain: true,
  behind: true,
  stalled: true,
  outvoted: true,
  foreign_chain: true,
}
export const restReasons = Object.keys(REST_REASONS)

/** How a node has behaved. All times are milliseconds of one clock. */
export interface Health {
  failures: number
  restUntil: number
  reason: RestReason | null
  /** The highest head it showed, and since when it has shown no higher one. */
  head: number
  headSince: number
}

export const fresh = (now: number): Health => ({ failures: 0, restUntil: 0, reason: null, head: -1, headSince: now })

const REST_MS_MIN = 250
const REST_MS_MAX = 60_000
/** A node that lags is back in a moment; a node of another chain is not. */
const FIXED: Partial<Record<RestReason, number>> = {
  behind: 400,
  stalled: 30_000,
  wrong_chain: 60_000,
  foreign_chain: 60_000,
  outvoted: 300_000,
}

/**
 * A failed node rests for twice as long each time, up to a minute, or as long as it asks for. What fails while it rests was asked for before, or in a
 * vote: it counts as the same time, and cuts no longer rest short.
 */
export function afterFailure(health: Health, reason: RestReason, now: number, retryAfterMs = 0): Health {
  const isResting = health.restUntil > now
  const failures = isResting ? health.failures : health.failures + 1
  const backoff = FIXED[reason] ?? Math.min(REST_MS_MIN * 2 ** (failures - 1), REST_MS_MAX)
  const restUntil = now + Math.max(backoff, retryAfterMs)
  return isResting && restUntil < health.restUntil ? health : { ...health, failures, restUntil, reason }
}

/** A node that rests is not asked, so an answer that comes meanwhile was asked for before, and is no reason to believe it again. */
export function afterSuccess(health: Health, now: number): Health {
  return health.failures === 0 || health.restUntil > now ? health : { ...health, failures: 0, restUntil: 0, reason: null }
}

export function afterHead(health: Health, head: number, now: number): Health {
  return head === health.head ? health : { ...health, head, headSince: now }
}

/** True when the node has shown the same head for too long. Whether the chain stands still or the node does, only another node can show. */
export const standsStill = (health: Health, now: number, stallMs: number) => health.head >= 0 && now - health.headSince > stallMs

/** Nodes that answer, and rest because of an answer or how far they are: their word on a hash is one like any other. */
const VOTING: readonly (RestReason | null)[] = ['outvoted', 'wrong_answer', 'stalled', 'behind']

export const voters = (healths: readonly Health[], now: number): number[] =>
  healths.flatMap(({ restUntil, reason }, index) => (restUntil <= now || VOTING.includes(reason) ? [index] : []))

/** The nodes to ask, best first: the configured order, without those that rest. */
export function candidates(healths: readonly Health[], now: number): number[] {
  return healths.flatMap((health, index) => (health.restUntil <= now ? [index] : []))
}
