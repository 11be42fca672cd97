/** A request's end, as far as trying again depends on it. */
export interface Outcome {
  /** 0 when there was no answer. */
  status: number
  code: string
  retryAfterMs: number | null
}

const BUSY = [429, 502, 503, 504]

/**
 * Whether the same request may be sent again. One that is not repeatable could take effect twice unless it was refused before it began, which
 * only 429 promises.
 */
export function mayRetry({ status, code }: Outcome, repeatable: boolean): boolean {
  if (status === 429) return true
  if (!repeatable) return false
  if (status === 0) return code === 'connection_failed' || code === 'timeout'
  return BUSY.includes(status) || code === 'idempotency_in_progress'
}

const BASE_MS = 250
const CEILING_MS = 8_000
const ASKED_MAX_MS = 60_000

/** Full jitter under an exponential ceiling, and never before the API asks. `random` is from 0 to 1. */
export function retryDelayMs(attempt: number, retryAfterMs: number | null, random: number): number {
  const jitter = random * Math.min(CEILING_MS, BASE_MS * 2 ** attempt)
  return Math.round(Math.max(jitter, Math.min(retryAfterMs ?? 0, ASKED_MAX_MS)))
}

/** `Retry-After` in milliseconds: seconds, or a date. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}
