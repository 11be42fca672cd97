export interface Random {
  below(limit: number): number
  pick<T>(from: readonly T[]): T
}

/** mulberry32: the same sequence for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    pick(from) {
      const [first] = from
      const picked = from[below(from.length)] ?? first
      if (picked === undefined) throw new Error('There is nothing to pick from.')
      return picked
    },
  }
}
