import type { Random } from '../torture/random'

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
