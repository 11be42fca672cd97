import type { EntryBody } from '@ponte/contracts'
import { chooseAlso, originsIn, sumOf } from './chosen'

const entry = (sequence: number, kind: string, reverses: number | null = null) =>
  ({ sequence, kind, reverses, amount: '0.100001' }) as unknown as EntryBody

test('a dossier is of what reached the payout address and stands', () => {
  const entries = [
    entry(1, 'payment'),
    entry(2, 'settled'),
    entry(3, 'direct'),
    entry(4, 'settled'),
    entry(5, 'settled', 4),
    entry(6, 'fee'),
  ]
  expect(originsIn(entries).map(({ sequence }) => sequence)).toEqual([2, 3])
})

test('a movement that is chosen twice counts once, and the sum is exact', () => {
  const all = [1, 2, 3].map(sequence => ({ sequence, amount: '0.100001' }))
  const chosen = chooseAlso(chooseAlso(new Map(), all, true), all.slice(0, 1), true)
  expect([chosen.size, sumOf(chosen)]).toEqual([3, '0.300003'])
  const less = chooseAlso(chosen, all.slice(1), false)
  expect([[...less.keys()], sumOf(less), sumOf(new Map())]).toEqual([[1], '0.100001', '0.000000'])
})
