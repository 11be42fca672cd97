import { memoize } from './memoize'

const counted = (limit: number) => {
  const asked: string[] = []
  const join = memoize(limit, (a: string, b: string) => {
    asked.push(`${a} ${b}`)
    if (a === 'bad') throw new Error('no answer')
    return a + b
  })
  return { join, asked }
}

it('asks once for the same arguments, and again for others', () => {
  const { join, asked } = counted(10)
  expect([join('a', 'b'), join('a', 'b'), join('ab', '')]).toEqual(['ab', 'ab', 'ab'])
  expect(asked).toEqual(['a b', 'ab '])
})

it('keeps no more than its limit', () => {
  const { join, asked } = counted(2)
  for (const a of ['a', 'b', 'c', 'a']) join(a, '')
  expect(asked).toHaveLength(4)
})

it('does not keep a failure', () => {
  const { join, asked } = counted(2)
  for (let n = 0; n < 2; n += 1) expect(() => join('bad', '')).toThrow('no answer')
  expect(asked).toHaveLength(2)
})
