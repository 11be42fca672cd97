import { within } from './coverage'

it('knows which blocks a multirange holds', () => {
  const holds = within('{(,10),[20,21),[30,)}')
  expect([-5, 9, 10, 19, 20, 21, 29, 30, 1e15].map(holds)).toEqual([true, true, false, false, true, false, false, true, true])
  expect(within('{}')(1)).toBe(false)
})
