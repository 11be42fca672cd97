import { keyedMutex } from './keyed-mutex'

it('work on one key follows, work on another does not wait, and a failure ends only itself', async () => {
  const exclusive = keyedMutex()
  const seen: string[] = []
  let release: () => void = () => undefined
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  const first = exclusive('a', async () => {
    await held
    seen.push('a1')
    throw new Error('a1 failed')
  })
  const second = exclusive('a', async () => seen.push('a2'))
  await exclusive('b', async () => seen.push('b1'))
  release()
  await expect(first).rejects.toThrow('a1 failed')
  await second
  expect(seen).toEqual(['b1', 'a1', 'a2'])
})
