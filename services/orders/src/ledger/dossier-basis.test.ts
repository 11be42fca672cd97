import { chooseByAmount } from './dossier-basis'

const newest = [30n, 20n, 50n].map((units, index) => ({ sequence: 9 - index, units }))
const counted = (wanted: bigint) => chooseByAmount(newest, wanted)?.map(one => [one.sequence, one.counted])

test.each<[bigint, [number, bigint][]]>([
  [1n, [[9, 1n]]],
  [30n, [[9, 30n]]],
  [
    31n,
    [
      [9, 30n],
      [8, 1n],
    ],
  ],
  [
    50n,
    [
      [9, 30n],
      [8, 20n],
    ],
  ],
  [
    100n,
    [
      [9, 30n],
      [8, 20n],
      [7, 50n],
    ],
  ],
])('%s are the newest entries, the oldest of them in part', (wanted, expected) => expect(counted(wanted)).toEqual(expected))

test('more than there is is none', () => {
  expect(counted(101n)).toBeUndefined()
  expect(chooseByAmount([], 1n)).toBeNull()
})
