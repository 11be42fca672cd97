/** Judges the reported history of the listener in its present generation. Pure. */

/** A lease under which the history was written: how far it was seen here, and how far the listener itself knows it; null while it is open. */
export interface Lease {
  seenVersion: number
  endedVersion: number | null
}

/** A confirmed range ended with this block, at this time. */
export interface Advance {
  toBlock: number
  time: Date
}

export interface History {
  since: number
  /** The confirmed ranges, apart and in order. */
  ranges: readonly (readonly [from: number, to: number])[]
  advances: readonly Advance[]
  leases: readonly Lease[]
  /** Belief before this report. */
  confirmedTime: Date | null
}

/** The end of the contiguous blocks from `since` on; null while the first of them is not known. */
export const watermarkOf = ({ since, ranges }: Pick<History, 'since' | 'ranges'>): number | null =>
  ranges.find(([from, to]) => from <= since && since <= to)?.[1] ?? null

/** Tc: the time at the watermark, or the latest before it that our clock lets be believed. It does not go back within a generation. */
export function confirmedTimeOf(history: History, latest: Date): Date | null {
  const watermark = watermarkOf(history) ?? -1
  const times = history.advances.filter(({ toBlock }) => toBlock <= watermark).map(({ time }) => time)
  const believable = [history.confirmedTime, ...times].filter(time => time !== null && time <= latest)
  return believable.reduce<Date | null>((last, time) => (last === null || (time !== null && time > last) ? time : last), null)
}

/** False while the listener may have lost what was read of it here: two leases are open, or one was seen further than the listener knows. */
export const isCertain = (leases: readonly Lease[]): boolean =>
  leases.filter(({ endedVersion }) => endedVersion === null).length <= 1 &&
  leases.every(({ seenVersion, endedVersion }) => endedVersion === null || seenVersion <= endedVersion)

/** Nothing of it was confirmed for so long, by our clock, that it is not offered; 0 is never. */
export const standsStill = (confirmedTime: Date | null, at: Date, afterMs: number): boolean =>
  afterMs > 0 && (confirmedTime === null || at.getTime() - confirmedTime.getTime() > afterMs)

/**
 * Up to which time every chain is known that does not stand still; null where that is of none, or of one not at all. One of which nothing is known for a
 * moment, as its listener began another history, stands still no sooner than another.
 */
export function knownThrough(chains: readonly { time: Date | null; lastTime: Date | null }[], at: Date, afterMs: number): Date | null {
  const going = chains.filter(({ lastTime }) => !standsStill(lastTime, at, afterMs)).map(({ time }) => time)
  const known = going.filter(time => time !== null).toSorted((one, other) => one.getTime() - other.getTime())
  return known.length === going.length ? (known[0] ?? null) : null
}

/** The generations of an order's chains, as one: another one of any of them is another history. */
export const generationsOf = (chainIds: readonly number[], of: (chainId: number) => { generation?: string | null } | undefined): string =>
  chainIds.map(chainId => of(chainId)?.generation ?? '').join(' ')
