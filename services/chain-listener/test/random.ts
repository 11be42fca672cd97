/** A small generator that gives the same numbers for the same seed (mulberry32). */
export function randomFrom(seed: number) {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(unit() * n)
  return {
    below,
    between: (low: number, high: number) => low + below(high - low + 1),
    chance: (p: number) => unit() < p,
    pick<T>(items: readonly T[]): T {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}
export type Random = ReturnType<typeof randomFrom>
