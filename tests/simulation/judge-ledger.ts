import type { ChainFacts } from './rpc'

/**
 * What the ledger of a merchant must come to, from the token's `Transfer` logs alone: it imports nothing of what it judges. Amounts are base units, addresses
 * lower-case, months those of São Paulo, whose clock is three hours behind UTC.
 */
export interface MovedMoney {
  settled: bigint
  waiting: bigint
  settledByMonth: Record<string, bigint>
}

/** With what acceptances and tolerances gave away, which no transfer shows, and what went back. */
export interface Must extends MovedMoney {
  givenAway: bigint
  returned: bigint
}

/** An address with the times in which a merchant was paid there: from `from` on and before `to`. */
export interface Paid {
  address: string
  from: number
  to: number
}

const OFFSET_S = -10_800
const monthOf = (time: number) => new Date((time + OFFSET_S) * 1_000).toISOString().slice(0, 7)

export function movedMoney(
  chain: Pick<ChainFacts, 'transfers'>,
  through: number,
  payouts: readonly Paid[],
  deposits: ReadonlySet<string>,
): MovedMoney {
  const moved: MovedMoney = { settled: 0n, waiting: 0n, settledByMonth: {} }
  for (const { block, time, from, to, amount } of chain.transfers) {
    if (block > through) continue
    if (deposits.has(to)) moved.waiting += amount
    if (deposits.has(from)) moved.waiting -= amount
    // A transfer to its own sender has moved nothing.
    if (to === from || !payouts.some(paid => paid.address === to && paid.from <= time && time < paid.to)) continue
    moved.settled += amount
    moved.settledByMonth[monthOf(time)] = (moved.settledByMonth[monthOf(time)] ?? 0n) + amount
  }
  return moved
}

/** On several chains. */
export function added(all: readonly MovedMoney[]): MovedMoney {
  const sum: MovedMoney = { settled: 0n, waiting: 0n, settledByMonth: {} }
  for (const { settled, waiting, settledByMonth } of all) {
    sum.settled += settled
    sum.waiting += waiting
    for (const [month, units] of Object.entries(settledByMonth)) sum.settledByMonth[month] = (sum.settledByMonth[month] ?? 0n) + units
  }
  return sum
}

/** All that reached an address. */
export const sentTo = (chain: Pick<ChainFacts, 'transfers'>, through: number, address: string): bigint =>
  chain.transfers.reduce((sum, one) => (one.to === address && one.block <= through ? sum + one.amount : sum), 0n)

/** The sums as the API answers them, in base units. */
export interface SeenLedger {
  gross: bigint
  fee: bigint
  settled: bigint
  waiting: bigint
  givenAway: bigint
  returned: bigint
  settledByMonth: Record<string, bigint>
}
/** A row of the file of entries. */
export interface SeenEntry {
  sequence: number
  kind: string
  units: bigint
}

/** Where a merchant's sums differ from the chain or from their own rows; empty when they do not. */
export function ledgerDifferences(seen: SeenLedger, rows: readonly SeenEntry[], must: Must): string[] {
  const found: string[] = []
  const differ = (what: string, is: bigint, expected: bigint) => {
    if (is !== expected) found.push(`${what} is ${is} and must be ${expected}`)
  }
  const sum = (...kinds: string[]) => rows.reduce((total, { kind, units }) => (kinds.includes(kind) ? total + units : total), 0n)
  differ('settled', seen.settled, must.settled)
  differ('waiting', seen.waiting, must.waiting)
  for (const month of new Set([...Object.keys(must.settledByMonth), ...Object.keys(seen.settledByMonth)]))
    differ(`settled of ${month}`, seen.settledByMonth[month] ?? 0n, must.settledByMonth[month] ?? 0n)
  differ('given away', seen.givenAway, must.givenAway)
  differ('given away of the file', sum('accepted'), seen.givenAway)
  differ('returned', seen.returned, must.returned)
  differ('returned of the file', sum('returned'), must.returned)
  differ('gross of the file', sum('payment', 'unmatched', 'direct'), seen.gross)
  differ('fee of the file', sum('fee'), seen.fee)
  differ('settled of the file', sum('settled', 'direct'), seen.settled)
  for (const [index, { sequence }] of rows.toSorted((a, b) => a.sequence - b.sequence).entries())
    if (sequence !== index + 1) found.push(`entry ${index + 1} has sequence ${sequence}`)
  return found
}
