import { keyedBatch } from './keyed-batch'

it('work on one key follows, what waits is done together, work on another does not wait, and an item that fails ends only itself', async () => {
  let release: () => void = () => undefined
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  const seen: string[] = []
  const batch = keyedBatch<string>(async (key, items) => {
    if (items.includes('first')) await held
    if (items.includes('bad')) throw new Error('it failed')
    seen.push(`${key}: ${items}`)
  })
  const first = batch('a', 'first')
  const others = ['second', 'bad', 'third'].map(item => batch('a', item))
  await batch('b', 'alone')
  release()
  expect((await Promise.allSettled([first, ...others])).map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
  expect(seen).toEqual(['b: alone', 'a: first', 'a: second', 'a: third'])
  await Promise.all(['fourth', 'fifth', 'sixth'].map(item => batch('a', item)))
  expect(seen.slice(4).join()).toBe('a: fourth,fifth,sixth')
})
