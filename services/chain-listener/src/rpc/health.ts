import type { RpcErrorKind } from './error'

/** Why a node is left alone: what it refused with, or what we think of it. */
export type RestReason = RpcErrorKind | 'wrong_chain' | 'behind' | 'stalled' | 'outvoted' | 'foreign_chain'

const REST_REASONS: Record<RestReason, true> = {
  too_wide: true,
  batch_refused: true,
  beyond_head: true,
  no_history: true,
  unsupported: true,
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

/** Behaviour of a node as a whole or towards one kind of question. All times are milliseconds of one clock. */
export interface Health {
  failures: number
  restUntil: number
  /** Why it failed last; null once it answered. */
  reason: RestReason | null
  /** Time of its last answer, and how long it took. */
  ms: number | null
  answeredAt: number | null
}

export const fresh = (): Health => ({ failures: 0, restUntil: 0, reason: null, ms: null, answeredAt: null })

const REST_MS_MIN = 250
const REST_MS_MAX = 60_000
/** A node that lags is back in a moment; a node of another chain is not, and what is not kept does not come back. */
const FIXED: Partial<Record<RestReason, number>> = {
  beyond_head: 3_000,
  behind: 3_000,
  stalled: 30_000,
  no_history: 60_000,
  unsupported: 60_000,
  too_wide: 60_000,
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
export function afterSuccess(health: Health, now: number, ms: number): Health {
  const answered = { ...health, ms, answeredAt: now }
  return health.restUntil > now ? answered : { ...answered, failures: 0, restUntil: 0, reason: null }
}

/** A refusal for which it does not rest, as every node refuses the same. */
export const afterRefusal = (health: Health, reason: RestReason, now: number): Health =>
  health.restUntil > now ? health : { ...health, reason }

/** It has taken so long without an answer, while another one may have given one. */
export const afterSilence = (health: Health, now: number, ms: number): Health => ({
  ...health,
  ms: Math.max(health.ms ?? 0, ms),
  answeredAt: now,
})

export const rests = (health: Health, now: number): boolean => health.restUntil > now

/** Nodes that answer, and rest because of an answer or how far they are: their word on a hash is one like any other. */
const VOTING: readonly (RestReason | null)[] = ['outvoted', 'wrong_answer', 'stalled', 'behind']
export const mayVote = (health: Health, now: number): boolean => !rests(health, now) || VOTING.includes(health.reason)

/** A measurement this old no longer counts. */
const REMEMBERED_MS = 60_000
/** A node comes behind faster ones when it takes so many times as long, and so much longer. */
const SLOWER = { times: 3, ms: 250 }

const latency = ({ ms, answeredAt }: Health, now: number): number | undefined =>
  ms === null || answeredAt === null || now - answeredAt > REMEMBERED_MS ? undefined : ms

/** The shortest time in which one of them answered lately; undefined when none did. */
export function fastest(healths: readonly Health[], now: number): number | undefined {
  const known = healths.flatMap(health => latency(health, now) ?? [])
  return known.length > 0 ? Math.min(...known) : undefined
}

/** Nodes about as fast as the fastest in the configured order, then the slow ones. */
export function byPreference<T>(items: readonly T[], healthOf: (item: T) => Health, now: number): T[] {
  const best = fastest(items.map(healthOf), now)
  const isSlow = (item: T) => {
    const ms = latency(healthOf(item), now)
    return ms !== undefined && best !== undefined && ms > best * SLOWER.times && ms - best > SLOWER.ms
  }
  return [...items.filter(item => !isSlow(item)), ...items.filter(isSlow)]
}

const HEDGE_MS = { least: 500, unknown: 1_000, most: 5_000 }

/** After so long without an answer another node is asked beside the first one. */
export function patienceMs(best: number | undefined): number {
  return best === undefined ? HEDGE_MS.unknown : Math.min(HEDGE_MS.most, Math.max(HEDGE_MS.least, best * 3))
}
