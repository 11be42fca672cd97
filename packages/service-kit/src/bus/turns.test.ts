import { createTurns } from './turns'

it('as many go on at once as may; of those that wait, merchants take turns, each in its own order', async () => {
  const turns = createTurns(2)
  const gone: string[] = []
  const take = (name: string, merchantId: string | null) => void turns.take(merchantId).then(() => void gone.push(name))
  for (const name of ['a1', 'a2', 'a3', 'a4']) take(name, 'a')
  for (const name of ['b1', 'b2']) take(name, 'b')
  take('none', null)
  await Promise.resolve()
  expect(gone).toEqual(['a1', 'a2'])
  for (let released = 0; released < 7; released += 1) turns.release()
  await Promise.resolve()
  expect(gone).toEqual(['a1', 'a2', 'a3', 'b1', 'none', 'a4', 'b2'])
  for (const name of ['c1', 'c2', 'c3']) take(name, 'c')
  await Promise.resolve()
  expect(gone.slice(7)).toEqual(['c1', 'c2'])
})
