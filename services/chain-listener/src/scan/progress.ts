/** Times are milliseconds of one clock. */
export interface CatchUp {
  startedAt: number
  startBlock: number
  scanned: number
  head: number
  at: number
}

/** A catch-up is worth speaking of from this many blocks on. */
const WORTH_BLOCKS = 50

/** Follows the scan: a new catch-up begins when it is far behind and none is under way; it ends, undefined, near the head. */
export function catchUp(before: CatchUp | undefined, step: { from: number; to: number; head: number; at: number }): CatchUp | undefined {
  const left = step.head - step.to
  if (left < WORTH_BLOCKS) return undefined
  const start = before ?? { startedAt: step.at, startBlock: step.from }
  return { startedAt: start.startedAt, startBlock: start.startBlock, scanned: step.to, head: step.head, at: step.at }
}

export interface Progress {
  blocks_left: number
  percent: number
  seconds_left: number | null
}

export function progressOf(progress: CatchUp | undefined): Progress | null {
  if (!progress) return null
  const done = progress.scanned - progress.startBlock
  const left = progress.head - progress.scanned
  const seconds = (progress.at - progress.startedAt) / 1_000
  return {
    blocks_left: left,
    percent: Math.floor((done / Math.max(1, done + left)) * 1_000) / 10,
    seconds_left: seconds > 0 && done > 0 ? Math.ceil((left * seconds) / done) : null,
  }
}
