const MINUTE_MS = 60_000
/** About two days: what a mail server that is being mended may take. */
const DELAYS_MIN = [1, 5, 15, 60, 180, 360, 720, 1440]

/** Wait after the nth failed try; null when the mail is given up. */
export const retryDelayMs = (attempts: number): number | null => {
  const minutes = DELAYS_MIN[attempts - 1]
  return minutes === undefined ? null : minutes * MINUTE_MS
}
