import type { Random } from '@ponte/service-kit/testing'

/** A payer's, a stranger's or the merchant's act about one order, at a time of the chain. Amounts are base units. */
export type Action = { at: number; order: number } & (
  | { does: 'transfer' | 'router' | 'signature' | 'mint'; units: bigint; payer: number }
  | { does: 'sweep'; payer: number }
  | { does: 'cancel' }
  | { does: 'accept' }
  /** Through the router, with a memo of no order. */
  | { does: 'stray'; units: bigint; payer: number }
  /** The merchant counts that payment for the order. */
  | { does: 'attach' }
  /** The merchant asks for its `nth` return: all that may go back, the surplus, or a hundredth of what the order asks for, so many times. */
  | { does: 'return'; nth: number; of: 'all' | 'surplus' | number; to: 'payer' | 'other' }
  /** The wallet signs it; it is brought, submitted by a stranger, or both. */
  | { does: 'sign'; nth: number; forS: number; isBrought: boolean; isSubmitted: boolean }
  /** On the chain. */
  | { does: 'cancel authorization'; nth: number }
  /** The wallet uses it for something else. */
  | { does: 'use nonce'; nth: number }
  | { does: 'cancel return'; nth: number }
  /** With others of the same `bundle`, in one transaction of a contract. */
  | { does: 'bundled'; units: bigint; bundle: number }
)

export interface PlannedOrder {
  /** Seconds between creation and `expires_at`. */
  expiresIn: number
  brlAmount: string
  merchant: number
}

const CENT = 10_000n
const PAYERS = 4

export function planOrder(random: Random, merchants: number): PlannedOrder {
  return {
    expiresIn: random.between(900, 5_400),
    brlAmount: `${random.between(1, 300)}.${String(random.between(0, 100)).padStart(2, '0')}`,
    merchant: random.between(0, merchants),
  }
}

/** By how much the merchant takes it as paid all the same, in base units; null where they do not choose. A hundredth of its reais is about a twentieth of it. */
export const planTolerance = (random: Random, { brlAmount }: PlannedOrder): bigint | null =>
  random.chance(0.5) ? BigInt(random.between(0, Number(brlAmount.replace('.', '')) * 100)) : null

/** When parts of a payment are mined: around the moment that decides, early, or long after. */
function moment(random: Random, createdAt: number, expiresAt: number): number {
  if (random.chance(0.35)) return expiresAt + random.between(-1, 2)
  if (random.chance(0.75)) return random.between(createdAt + 30, expiresAt - 1)
  return expiresAt + random.between(2, 9_000)
}

/** One to five parts that add up to more or less what is asked, dust before, between and after, strangers' sweeps, a cancellation. */
export function planActions(
  random: Random,
  order: { index: number; createdAt: number; expiresAt: number; usdcUnits: bigint; hasDeposit: boolean },
): Action[] {
  const { index, createdAt, expiresAt, usdcUnits } = order
  const actions: Action[] = []
  const at = () => moment(random, createdAt, expiresAt)
  const pay = (units: bigint, time: number) => {
    if (units <= 0n) return
    const payer = random.between(0, PAYERS)
    const way = random.next()
    if (!order.hasDeposit || way < 0.2) actions.push({ at: time, order: index, does: 'router', units, payer })
    else if (way < 0.3) actions.push({ at: time, order: index, does: 'signature', units, payer })
    else if (way < 0.36) actions.push({ at: time, order: index, does: 'mint', units, payer })
    else if (way < 0.5) actions.push({ at: time, order: index, does: 'bundled', units, bundle: time })
    else actions.push({ at: time, order: index, does: 'transfer', units, payer })
  }
  const total = totalOf(random, usdcUnits)
  if (total > 0n) for (const part of partsOf(random, total)) pay(part, at())
  if (random.chance(0.12)) pay(usdcUnits, at())
  if (order.hasDeposit) {
    for (let dust = random.between(0, 3); dust > 0; dust--)
      actions.push({ at: at(), order: index, does: 'transfer', units: BigInt(random.between(1, Number(CENT) / 4)), payer: PAYERS })
    for (let sweeps = random.between(0, 3); sweeps > 0; sweeps--)
      actions.push({ at: at() + random.between(0, 3), order: index, does: 'sweep', payer: PAYERS })
  }
  if (random.chance(0.15)) actions.push({ at: random.between(createdAt + 30, expiresAt), order: index, does: 'cancel' })
  return actions
}

/** When the merchant takes what came as payment in full, of an order whose money may be too little, late or after its cancellation. */
export function planAcceptance(random: Random, order: { index: number; createdAt: number; expiresAt: number }): Action[] {
  if (!random.chance(0.3)) return []
  return [{ at: random.between(order.createdAt + 60, order.expiresAt + 9_000), order: order.index, does: 'accept' }]
}

/** A payment whose memo was typed wrong, and when the merchant counts it for the order, once or again. */
export function planStray(random: Random, order: { index: number; createdAt: number; expiresAt: number; usdcUnits: bigint }): Action[] {
  if (!random.chance(0.25)) return []
  const at = moment(random, order.createdAt, order.expiresAt)
  const units = totalOf(random, order.usdcUnits) || CENT
  const counted = () => at + random.between(1, 6_000)
  return [
    { at, order: order.index, does: 'stray', units, payer: random.between(0, PAYERS) },
    { at: counted(), order: order.index, does: 'attach' },
    { at: counted(), order: order.index, does: 'attach' },
  ]
}

/** One to three returns, most of them after the end of the order, what is signed for them, and second thoughts. */
export function planReturns(random: Random, order: { index: number; createdAt: number; expiresAt: number }): Action[] {
  const actions: Action[] = []
  if (random.chance(0.5)) return actions
  const returns = random.between(1, 4)
  for (let nth = 0; nth < returns; nth++) {
    const from = random.chance(0.9) ? order.expiresAt : order.createdAt
    const at = from + random.between(60, 6_000)
    const later = () => at + random.between(1, 4_000)
    const of = random.chance(0.3) ? 'all' : random.chance(0.3) ? 'surplus' : random.between(1, 120)
    actions.push({ at, order: order.index, does: 'return', nth, of, to: random.chance(0.2) ? 'payer' : 'other' })
    for (let more = random.between(0, 3); more > 0; more--) {
      const forS = random.chance(0.3)
        ? random.between(55, 300)
        : random.chance(0.9)
          ? random.between(300, 4_000)
          : random.between(4_000, 86_400)
      const [isBrought, isSubmitted] = random.pick([
        [true, false],
        [true, false],
        [true, true],
        [false, true],
      ] as const)
      actions.push({ at: later(), order: order.index, does: 'sign', nth, forS, isBrought, isSubmitted })
    }
    if (random.chance(0.15)) actions.push({ at: later(), order: order.index, does: 'cancel authorization', nth })
    if (random.chance(0.06)) actions.push({ at: later(), order: order.index, does: 'use nonce', nth })
    if (random.chance(0.4)) actions.push({ at: later(), order: order.index, does: 'cancel return', nth })
  }
  return actions
}

function totalOf(random: Random, usdc: bigint): bigint {
  const choice = random.next()
  if (choice < 0.1) return 0n
  if (choice < 0.5) return usdc
  // As an exchange withdraws it: two decimals, rounded down.
  if (choice < 0.65) return (usdc / CENT) * CENT
  if (choice < 0.75) return usdc - CENT - 1n
  if (choice < 0.85) return (usdc * BigInt(random.between(10, 99))) / 100n
  if (choice < 0.92) return usdc + CENT + 1n
  return (usdc * BigInt(random.between(101, 250))) / 100n
}

function partsOf(random: Random, total: bigint): bigint[] {
  const parts: bigint[] = []
  let left = total
  for (let more = random.between(0, 5); more > 0 && left > 2n * CENT; more--) {
    const part = (left * BigInt(random.between(5, 80))) / 100n
    parts.push(part)
    left -= part
  }
  return [...parts, left]
}
