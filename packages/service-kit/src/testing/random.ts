/** The same seed gives the same sequence, so that a run that found something can be run again. */
export interface Random {
  /** At least 0 and below 1. */
  next(): number
  below(limit: number): number
  /** At least `min` and below `max`. */
  between(min: number, max: number): number
  chance(share: number): boolean
  pick<T>(items: readonly T[]): T
  shuffle<T>(items: readonly T[]): T[]
}

/** mulberry32: small, and good enough to spread faults. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    below,
    between: (min, max) => min + below(max - min),
    chance: share => next() < share,
    pick(items) {
      const item = items[below(items.length)]
      if (item === undefined) throw new RangeError('There is nothing to pick from.')
      return item
    },
    shuffle<T>(items: readonly T[]) {
      const left = [...items]
      return items.flatMap(() => left.splice(below(left.length), 1))
    },
  }
}

/** One of the choices, each as often as its weight states. */
export function weighted<T>(random: Random, choices: readonly (readonly [number, T])[]): T {
  let left = random.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, choice] of choices) {
    left -= weight
    if (left < 0) return choice
  }
  throw new RangeError('There is nothing to choose from.')
}
