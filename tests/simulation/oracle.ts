/**
 * What each order must be, from the facts of the chain alone (docs/architecture.md, "The order"). It imports nothing of what it judges:
 * amounts are base units of USDC (10⁻⁶), times are Unix seconds, hashes and addresses are lower-case.
 */

/** An ERC-20 `Transfer` to the order's deposit address. */
export interface TransferFact extends Place {
  from: string
  amount: bigint
}

/** A `PaymentReceived` with the order's memo, router and merchant. */
export interface RouterFact extends Place {
  payer: string
  amount: bigint
}

export interface Place {
  /** Where an order may be paid on several; the first one without it. */
  chainId?: number
  txHash: string
  block: number
  logIndex: number
  /** The block's time. */
  time: number
}

export interface Terms {
  usdcUnits: bigint
  /** By how much it may be short and be paid. */
  toleranceUnits: bigint
  feeBps: bigint
  expiresAt: number
  /** Lower-case; null when the order has none. */
  depositAddress: string | null
  /** Whether a cancellation was answered with 200. */
  cancelled: boolean
  /** The transaction with which the merchant's acceptance was answered, with 200. */
  accepted?: string | null
}

/** Everything on the canonical chain that concerns one order, and how much of it is confirmed. */
export interface Facts {
  transfers: readonly TransferFact[]
  routerPayments: readonly RouterFact[]
  confirmedBlock: number
  /** The time of that block. */
  confirmedTime: number
  /** The same of every other chain that the order may be paid on. */
  others?: readonly { chainId: number; confirmedBlock: number; confirmedTime: number }[]
}

export interface ExpectedPayment {
  chainId?: number
  kind: 'router' | 'transfer'
  txHash: string
  amount: bigint
  payer: string | null
  status: 'detected' | 'confirmed'
  settlement: 'settled' | 'pending'
  /** The transaction that settled it; null while none has. */
  settledBy: string | null
}

export interface Expected {
  /** More than one where the answer depends on which of two facts was known first. */
  statuses: readonly string[]
  exception: string | null
  received: bigint
  expected: bigint
  /** What of the asked amount is missing of an order that was accepted; null of any other. */
  givenAway: bigint | null
  /** The ledger must have so much of that, and of an order that its tolerance took as paid: beyond a cent, which is rounding. */
  booked: bigint
  /** The payer's own transaction; null where any or none is right. */
  txHash: string | null
  /** Of an order that is paid: it keeps the transaction that completed it first, and which of two chains was confirmed sooner is no fact of either. */
  paidBy: readonly string[]
  payments: readonly ExpectedPayment[]
  /** Webhooks that must have been sent once each, and those that must never have been. */
  mustHear: readonly string[]
  mustNotHear: readonly string[]
  /** Possible values of `received` of an `order.underpaid`. */
  shortAmounts: readonly bigint[]
}

const CENT = 10_000n
const MINT = '0x0000000000000000000000000000000000000000'
const share = (gross: bigint, feeBps: bigint) => gross - (gross * feeBps) / 10_000n
const inOrder = (a: Place, b: Place) =>
  a.time - b.time || (a.chainId ?? 0) - (b.chainId ?? 0) || a.block - b.block || a.logIndex - b.logIndex
const isOfBlock = (a: Place, b: Place) => a.chainId === b.chainId && a.block === b.block
const sum = (amounts: readonly { amount: bigint }[]) => amounts.reduce((total, { amount }) => total + amount, 0n)
const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

export function judge(terms: Terms, facts: Facts): Expected {
  const rounding = smaller(CENT, terms.usdcUnits / 100n)
  const required = terms.usdcUnits - terms.toleranceUnits
  const others = facts.others ?? []
  const isConfirmed = ({ chainId, block }: Place) =>
    block <= (others.find(other => other.chainId === chainId)?.confirmedBlock ?? facts.confirmedBlock)
  // A router payment whose payer is the deposit address is a sweep: it moves money that has been counted as transfers.
  const payments = [
    ...facts.transfers.map(one => ({ ...one, kind: 'transfer' as const, payer: one.from === MINT ? null : one.from })),
    ...facts.routerPayments.filter(one => one.payer !== terms.depositAddress).map(one => ({ ...one, kind: 'router' as const })),
  ].sort(inOrder)
  const sweeps = facts.routerPayments.filter(one => one.payer === terms.depositAddress).sort(inOrder)

  const confirmed = payments.filter(isConfirmed)
  const confirmedUnits = sum(confirmed)
  const seenUnits = sum(payments)
  const completingOf = <T extends { amount: bigint }>(known: readonly T[]) =>
    known.find((_, index) => sum(known.slice(0, index + 1)) >= required)
  const completing = completingOf(confirmed)
  const past = [facts, ...others].every(({ confirmedTime }) => confirmedTime > terms.expiresAt)
  const inTime = completing !== undefined && completing.time <= terms.expiresAt
  const isDust = confirmedUnits < CENT && confirmedUnits < required

  // Answered only where money was confirmed, which no reorganisation here takes away.
  const accepted = terms.accepted ?? null
  const isAccepted = accepted !== null && confirmed.some(({ txHash }) => txHash === accepted) && !isDust

  const statuses = (() => {
    if (isAccepted) return ['paid']
    if (terms.cancelled) return ['cancelled']
    if (inTime) return ['paid']
    const coming = seenUnits >= required && confirmedUnits < required
    if (past) return coming ? ['expired', 'confirming'] : ['expired']
    // It came too late by one chain, and another may still show what came in time.
    if (coming || completing) return ['confirming']
    if (confirmedUnits === 0n || isDust) return ['pending']
    return seenUnits - confirmedUnits < CENT ? ['underpaid'] : ['underpaid', 'pending']
  })()

  const exception = (() => {
    if (terms.cancelled && !isAccepted) return confirmedUnits > 0n && !isDust ? 'paid_after_cancel' : null
    if (!inTime && !isAccepted) return past && completing ? 'paid_late' : null
    const after = completing ? confirmed.slice(confirmed.findLastIndex(one => isOfBlock(one, completing)) + 1) : []
    if (sum(after) >= required) return 'duplicate'
    return confirmedUnits > terms.usdcUnits + rounding ? 'overpaid' : null
  })()

  const missing = smaller(0n, confirmedUnits - terms.usdcUnits) * -1n

  return {
    statuses,
    exception,
    received: share(confirmedUnits, terms.feeBps),
    expected: share(terms.usdcUnits, terms.feeBps),
    givenAway: accepted === null ? null : missing,
    booked: accepted !== null || (statuses.includes('paid') && missing > CENT) ? missing : 0n,
    txHash: accepted ?? (completing ?? confirmed.at(-1))?.txHash ?? null,
    paidBy:
      accepted === null && statuses.includes('paid')
        ? knownBefore(confirmed).flatMap(known => {
            const first = completingOf(known)
            return first && first.time <= terms.expiresAt ? [first.txHash] : []
          })
        : [],
    payments: payments.map(one => ({
      ...(one.chainId === undefined ? {} : { chainId: one.chainId }),
      kind: one.kind,
      txHash: one.txHash,
      amount: one.amount,
      payer: one.payer,
      status: isConfirmed(one) ? 'confirmed' : 'detected',
      ...settlementOf(one, payments, sweeps.filter(isConfirmed), isConfirmed(one)),
    })),
    mustHear: isAccepted
      ? ['order.paid', ...(terms.cancelled ? ['order.cancelled'] : [])]
      : terms.cancelled
        ? ['order.cancelled']
        : inTime
          ? ['order.paid']
          : past && !statuses.includes('confirming')
            ? ['order.expired']
            : [],
    mustNotHear: [
      ...(isAccepted || (inTime && !terms.cancelled) ? [] : ['order.paid']),
      ...(past && !inTime && !terms.cancelled ? [] : ['order.expired']),
      ...(terms.cancelled ? [] : ['order.cancelled']),
    ],
    shortAmounts: sumsOfSome(confirmed).map(units => share(units, terms.feeBps)),
  }
}

/** All that may have been known at some moment: of each chain what was mined up to a block of it. */
function knownBefore<T extends Place>(confirmed: readonly T[]): T[][] {
  const chains = [...Map.groupBy(confirmed, ({ chainId }) => chainId).values()]
  const upToEach = (chain: readonly T[]) => {
    const blocks = [-1, ...new Set(chain.map(({ block }) => block))]
    return blocks.map(last => chain.filter(({ block }) => block <= last))
  }
  return chains
    .reduce<T[][]>((all, chain) => all.flatMap(known => upToEach(chain).map(more => [...known, ...more])), [[]])
    .map(known => known.sort(inOrder))
}

/** Confirmations may become known in any order, so `order.underpaid` may name the sum of any of them. */
const sumsOfSome = (payments: readonly { amount: bigint }[]): bigint[] =>
  payments.reduce<bigint[]>((sums, { amount }) => [...new Set([...sums, ...sums.map(each => each + amount)])], [0n])

/** Sweeps take whole balances, so the oldest transfers are settled first: by the sweep that brings the swept sum up to theirs. */
function settlementOf(
  one: { kind: string; txHash: string; amount: bigint } & Place,
  payments: readonly ({ kind: string; amount: bigint } & Place)[],
  sweeps: readonly RouterFact[],
  confirmed: boolean,
): Pick<ExpectedPayment, 'settlement' | 'settledBy'> {
  const settled = (by: string) => ({ settlement: 'settled' as const, settledBy: by })
  const pending = { settlement: 'pending' as const, settledBy: null }
  if (one.kind === 'router') return confirmed ? settled(one.txHash) : pending
  const upToThis = sum(payments.filter(other => other.kind === 'transfer' && other.chainId === one.chainId && inOrder(other, one) <= 0))
  const here = sweeps.filter(sweep => sweep.chainId === one.chainId)
  const by = here.find((_, index) => sum(here.slice(0, index + 1)) >= upToThis)
  return by ? settled(by.txHash) : pending
}
