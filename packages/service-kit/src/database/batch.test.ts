import { createBatch } from './batch'

describe('a batch', () => {
  it('does the first at once and together what came meanwhile', async () => {
    const sizes: number[] = []
    const double = createBatch<number, number>(100, async items => {
      sizes.push(items.length)
      return items.map(item => item * 2)
    })
    expect(await Promise.all([1, 2, 3, 4].map(double))).toEqual([2, 4, 6, 8])
    expect(sizes).toEqual([1, 3])
  })

  it('is limited', async () => {
    const sizes: number[] = []
    const echo = createBatch<number, number>(2, async items => {
      sizes.push(items.length)
      return [...items]
    })
    await Promise.all([1, 2, 3, 4, 5].map(echo))
    expect(sizes).toEqual([1, 2, 2])
  })

  it('takes one item of each key, the others next, in order', async () => {
    const batches: string[][] = []
    const keyed = createBatch<string, string>(
      2,
      async items => {
        batches.push([...items])
        return [...items]
      },
      undefined,
      item => item.slice(0, 1),
    )
    await Promise.all(['x', 'a1', 'a2', 'b1', 'a3', 'c1', 'c2'].map(keyed))
    expect(batches).toEqual([['x'], ['a1', 'b1'], ['a2', 'c1'], ['a3', 'c2']])
  })

  it('lets an item at fault fail alone', async () => {
    const risky = createBatch<number, string>(10, async items => {
      if (items.includes(3)) throw new Error('three')
      return items.map(String)
    })
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(risky))
    expect(outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message))).toEqual([
      '1',
      '2',
      'three',
      '4',
    ])
  })

  it('does nothing again that may have been done', async () => {
    let tries = 0
    const cut = createBatch<number, number>(10, async items => {
      tries++
      if (items.length > 1) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      return [...items]
    })
    const outcomes = await Promise.allSettled([1, 2, 3].map(cut))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(tries).toBe(2)
  })

  it('does again what was undone because it met another', async () => {
    const crossed = createBatch<number, number>(10, async items => {
      if (items.length > 1) throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
      return [...items]
    })
    expect(await Promise.all([1, 2, 3].map(crossed))).toEqual([1, 2, 3])
  })

  it('finds the one at fault among many by halves', async () => {
    const sizes: number[] = []
    const risky = createBatch<number, number>(100, async items => {
      sizes.push(items.length)
      if (items.includes(40)) throw new Error('forty')
      return [...items]
    })
    const outcomes = await Promise.allSettled(Array.from({ length: 65 }, (_, index) => risky(index)))
    expect(outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([40])
    expect(sizes.length).toBeLessThanOrEqual(2 + 2 * Math.log2(64))
  })

  it('refuses what waited too long, as something that may be asked again', async () => {
    let release = (): void => undefined
    const stuck = createBatch<number, number>(
      10,
      async items => {
        if (items.includes(1)) await new Promise<void>(resolve => (release = resolve))
        return [...items]
      },
      20,
    )
    const first = stuck(1)
    const late = expect(stuck(2)).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    await new Promise(resolve => setTimeout(resolve, 40))
    release()
    await late
    expect([await first, await stuck(3)]).toEqual([1, 3])
  })

  it('goes on after a failure', async () => {
    let broken = true
    const once = createBatch<number, number>(10, async items => {
      if (broken) throw new Error('away')
      return [...items]
    })
    await expect(once(1)).rejects.toThrow('away')
    broken = false
    expect(await once(2)).toBe(2)
  })
})
