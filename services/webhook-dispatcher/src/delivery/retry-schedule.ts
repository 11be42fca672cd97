const MINUTE_S = 60
const HOUR_S = 3600

/** Seconds before attempts 1 to 7, each counted from the end of the one before it (specification, Retry schedule). */
export const RETRY_DELAYS_S: readonly number[] = [0, MINUTE_S, 5 * MINUTE_S, 30 * MINUTE_S, 2 * HOUR_S, 12 * HOUR_S, 24 * HOUR_S]

export const MAX_ATTEMPTS = RETRY_DELAYS_S.length

/** Wait after `attempts` failed ones; `undefined` when there is no next: the event is dead. */
export const delayAfter = (attempts: number): number | undefined => RETRY_DELAYS_S[attempts]
