import type { Attempt, Charge } from './subscription'

/**
 * The state of a period as a pure function of what was asked for it, what orders reported and the time (docs/decisions/0015-a-period-is-a-pure-function.md). The order in which the
 * reports came plays no part.
 */

export type PeriodState =
  /** Nothing was asked yet, or what was asked never became an order. */
  | 'due'
  /** An order is open, or on its way. */
  | 'asked'
  /** Its last order expired unpaid, and another try is left. */
  | 'retrying'
  /** All of its money is confirmed, but none of its orders is paid: it came late. The merchant may accept it. */
  | 'late'
  /** No order is open and none will be issued by itself. */
  | 'unpaid'
  | 'paid'

export interface PeriodTerms {
  /** When it ends: the next period's beginning or the subscription's end, whichever is first. Null without either. */
  endsAt: Date | null
  orderExpiresInS: number
  /** Delays of the further orders after the first, while each expires unpaid. */
  retryAfterS: readonly number[]
}

export interface PeriodVerdict {
  state: PeriodState
  /** The rest of the period's amount. */
  missingCentavos: bigint
  /** When an order is to be issued by itself; null when none is. */
  issueAt: Date | null
}

/** A payer gets at least this long, or as long as an order of the plan lives. */
const USEFUL_LIFE_S = 300

/** The state of a period that has begun. `charge` is what was asked; undefined before anything was. */
export function periodVerdict(charge: Charge | undefined, terms: PeriodTerms, at: Date): PeriodVerdict {
  if (charge === undefined) return { state: 'due', missingCentavos: 0n, issueAt: usefulTime(at, terms, at) }
  const missingCentavos = missingOf(charge)
  const verdict = (state: PeriodState, issueAt: Date | null = null): PeriodVerdict => ({ state, missingCentavos, issueAt })
  if (charge.status === 'paid') return verdict('paid')
  if (charge.attempts.some(({ status }) => status === 'open')) return verdict('asked')
  if (missingCentavos === 0n) return verdict('late')
  const issueAt = nextIssue(charge, terms, at)
  if (issueAt === null) return verdict('unpaid')
  return verdict(isFirst(charge) ? 'due' : 'retrying', issueAt)
}

export function missingOf({ brlCentavos, attempts }: Charge): bigint {
  const received = attempts.reduce((sum, { receivedCentavos }) => sum + receivedCentavos, 0n)
  return received >= brlCentavos ? 0n : brlCentavos - received
}

/** When an order that is issued at `at` ends: after its life, and never beyond its period; null when too little is left for a payer. */
export function orderEnd(terms: PeriodTerms, at: Date): Date | null {
  const lifeEnd = at.getTime() + terms.orderExpiresInS * 1000
  const end = terms.endsAt === null ? lifeEnd : Math.min(lifeEnd, terms.endsAt.getTime())
  return end - at.getTime() < Math.min(terms.orderExpiresInS, USEFUL_LIFE_S) * 1000 ? null : new Date(end)
}

function nextIssue(charge: Charge, terms: PeriodTerms, at: Date): Date | null {
  const latest = charge.attempts.at(-1)
  const first = offered(charge)[0]
  if (latest && wasReplaced(latest)) return usefulTime(at, terms, at)
  if (latest?.status !== 'expired') return null
  // It was never opened, so no payer saw it. Not before its end, or an order that lapses at once would be issued without pause.
  if (hasLapsed(latest)) return usefulTime(latest.endsAt ?? at, terms, at)
  if (!first) return null
  const begin = first.issuedAt.getTime()
  const after = terms.retryAfterS.find(seconds => seconds * 1000 > latest.issuedAt.getTime() - begin)
  return after === undefined ? null : usefulTime(new Date(begin + after * 1000), terms, at)
}

/** The time itself, when an order issued then, or now if it has passed, would live long enough. */
const usefulTime = (time: Date, terms: PeriodTerms, at: Date): Date | null =>
  orderEnd(terms, new Date(Math.max(time.getTime(), at.getTime()))) === null ? null : time

/** No order of its terms was offered yet. */
const isFirst = (charge: Charge): boolean => offered(charge).every(wasReplaced)

/** Attempts that payers could see. */
const offered = ({ attempts }: Charge): Attempt[] => attempts.filter(attempt => !hasLapsed(attempt))

/** True when a payer was asked for it, an order ended without the money, and not all of it has come since. */
export const isOwed = (charge: Charge): boolean => missingOf(charge) > 0n && offered(charge).some(({ status }) => status === 'expired')

export const hasLapsed = ({ status, reason }: Attempt): boolean => status === 'expired' && reason === LAPSED

/** Closed in favour of the merchant's new terms. */
const wasReplaced = ({ status, replacedAt }: Attempt): boolean => status === 'cancelled' && replacedAt !== null

/** Why an order that was asked for is not there: orders has not answered yet. */
export const REQUESTED = 'requested'
/** Why it was never opened: its time was over. */
export const LAPSED = 'lapsed'
