import type { deadReason, failureCode } from '@ponte/contracts'
import type { z } from 'zod'
import { delayAfter } from './retry-schedule'

/** Why an attempt failed: all that is ever shown of it besides a status and a short piece of the answer. */
export type FailureCode = z.infer<typeof failureCode>

export type DeadReason = z.infer<typeof deadReason>

/** `refused` and `not_attempted` sent nothing; the latter is our own fault and costs the merchant nothing. */
export type Outcome =
  | { kind: 'delivered'; status: number }
  | { kind: 'failed'; code: FailureCode; status?: number; snippet?: string }
  | { kind: 'refused'; reason: Exclude<DeadReason, 'attempts_exhausted'> }
  | { kind: 'not_attempted' }

/** Changed by an outcome: `attempts` made of the seven, and `losses` of the workers that were sending it. */
export interface Progress {
  attempts: number
  losses: number
}

export interface Verdict extends Progress {
  status: 'pending' | 'delivered' | 'dead'
  /** Seconds from the end of this attempt to the next; null when there is none. */
  delayS: number | null
  deadReason: DeadReason | null
}

/** Losses of a worker that cost the merchant nothing; a delivery that kills workers must not loop for ever. */
const FREE_LOSSES = 1
const OWN_FAULT_DELAY_S = 60

export interface DeliveryResult {
  id: string
  verdict: Verdict
  /** Null when nothing was sent: then no attempt is recorded. */
  attempt: {
    outcome: 'delivered' | 'failed'
    httpStatus: number | null
    errorCode: FailureCode | null
    snippet: string | null
    durationMs: number
    /** Where it went, and the headers as they may be shown; null for those of the specification. */
    url: string | null
    requestHeaders: Record<string, string> | null
  } | null
  error: string | null
}

/** The state after an attempt (specification, delivery rules 4 to 6 and the retry schedule). */
export function afterAttempt({ attempts, losses }: Progress, outcome: Outcome): Verdict {
  switch (outcome.kind) {
    case 'delivered':
      return { status: 'delivered', attempts: attempts + 1, losses, delayS: null, deadReason: null }
    case 'refused':
      return { status: 'dead', attempts, losses, delayS: null, deadReason: outcome.reason }
    case 'not_attempted':
      return { status: 'pending', attempts, losses, delayS: OWN_FAULT_DELAY_S, deadReason: null }
    case 'failed':
      return failed(attempts + 1, losses)
  }
}

/** The state after the worker that was sending it vanished: free once, then it counts as one of the seven attempts. */
export function afterLoss({ attempts, losses }: Progress): Verdict {
  if (losses < FREE_LOSSES) return { status: 'pending', attempts, losses: losses + 1, delayS: 0, deadReason: null }
  return failed(attempts + 1, losses + 1)
}

function failed(attempts: number, losses: number): Verdict {
  const delayS = delayAfter(attempts)
  return delayS === undefined
    ? { status: 'dead', attempts, losses, delayS: null, deadReason: 'attempts_exhausted' }
    : { status: 'pending', attempts, losses, delayS, deadReason: null }
}

/** The one sentence about the last failure that a merchant sees. */
export function describeFailure(outcome: Extract<Outcome, { kind: 'failed' }>): string {
  const quote = outcome.snippet ? `: ${outcome.snippet}` : ''
  if (outcome.code === 'http_status') return `The endpoint answered ${outcome.status}${quote}`
  return failureText[outcome.code]
}

const failureText: Record<Exclude<FailureCode, 'http_status'>, string> = {
  timeout: 'The endpoint did not answer within 15 seconds',
  dns_error: 'The host name could not be resolved',
  connection_refused: 'The endpoint refused the connection',
  connection_reset: 'The endpoint closed the connection before it answered',
  connection_failed: 'The endpoint could not be reached',
  tls_error: 'The TLS connection failed; check the certificate of the endpoint',
  invalid_response: 'The endpoint did not answer with valid HTTP',
  worker_lost: 'The attempt was interrupted on our side',
}
