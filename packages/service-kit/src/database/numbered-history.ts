import { ApiError, type Cursor } from '@ponte/contracts'

/** Numbers of a list from `first` on were given in this epoch, up to the first one of the next. */
export interface EpochSpan {
  first: number
  epoch: string
}

/** The span of what is stored of a list that is counted without gaps. */
export interface NumberedHistory {
  /** By `first`. An epoch ends where PostgreSQL was started again or put back, so that a number alone may name two rows, but never in one epoch. */
  epochs: readonly EpochSpan[]
  /** The last number that was given; 0 before the first row. */
  newest: number
}

/** A sequence with the epoch in which it was given; without one where that is not known. */
export function cursorAt(history: NumberedHistory | undefined, sequence: number): Cursor {
  const isThere = history !== undefined && sequence <= history.newest
  return { sequence, epoch: (isThere ? history.epochs.findLast(({ first }) => first <= sequence)?.epoch : undefined) ?? null }
}

/**
 * Where a reader has to go on: null at its own place, while the history up to there is the one that it read. Otherwise the last number that both have: where
 * the reader's epoch ends here. An epoch that is not known here began after the moment that was restored, and may have begun anywhere: `everything` that is kept
 * is read again.
 */
export function resetOf(history: NumberedHistory, { sequence, epoch }: Cursor): number | 'everything' | null {
  const { epochs, newest } = history
  const isThere = sequence <= newest
  if (isThere && (epoch === null || sequence === 0 || cursorAt(history, sequence).epoch === epoch)) return null
  if (epoch === null) return newest
  const given = epochs.filter(({ first }) => first <= newest)
  const last = given.findLastIndex(span => span.epoch === epoch)
  if (last < 0) return 'everything'
  const end = (given[last + 1]?.first ?? newest + 1) - 1
  return Math.min(sequence, end)
}

export const cursorText = ({ sequence, epoch }: Cursor): string => (epoch === null ? String(sequence) : `${sequence}-${epoch}`)

/** The answer to a reader of another history than this. `advice` is what a reader has to know beside where to go on. */
export function numbersReset(history: NumberedHistory, sequence: number, what: string, advice: string): ApiError {
  const resumeAfter = cursorText(cursorAt(history, sequence))
  return new ApiError(
    'events_reset',
    `These ${what} were put back to an earlier moment, and numbered again from ${sequence + 1} on: go on with after=${resumeAfter}. ${advice}`,
    { resumeAfter },
  )
}
