import { silentLogger } from '../observe/logger'
import { retention } from './retention'
import { until } from './service'

const PART_MS = 20

/** So many rows are old; each part takes a while, and its beginning and end are kept. */
function oldRows(rows: number) {
  const parts: { began: number; ended: number; after: number | null }[] = []
  const remove = async (limit: number, after: number | null) => {
    const began = performance.now()
    await new Promise(resolve => setTimeout(resolve, PART_MS))
    parts.push({ began, ended: performance.now(), after })
    const removed = Math.min(limit, rows)
    rows -= removed
    return { count: removed, last: rows }
  }
  return { parts, remove, left: () => rows }
}

describe('retention', () => {
  it('goes on until nothing old is left, and rests longer after each part than that took', async () => {
    const { parts, remove, left } = oldRows(1_200)
    const loop = retention('retention', remove, silentLogger)
    await loop.start?.()
    await until(() => left() === 0, 'old rows are left')
    await loop.stop?.()
    expect(parts.map(({ after }) => after)).toEqual([null, 700, 200])
    for (const [n, { began }] of parts.entries()) {
      const before = parts[n - 1]
      if (before) expect(began - before.ended).toBeGreaterThan(2 * (before.ended - before.began))
    }
  })

  it('stops in the middle of a rest, without another part', async () => {
    const { parts, remove } = oldRows(Number.MAX_SAFE_INTEGER)
    const loop = retention('retention', remove, silentLogger)
    await loop.start?.()
    await until(() => parts.length === 1, 'it did not begin')
    await loop.stop?.()
    expect(parts).toHaveLength(1)
  })
})
