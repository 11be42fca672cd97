import { networkOrder } from './network-order'

const network = (chain_id: number, typical_seconds: number, suspended = false) => ({ chain_id, typical_seconds, suspended })
const [ethereum, base, polygon, arbitrum] = [network(1, 144), network(8453, 30), network(137, 128), network(42_161, 30)]
const DUE = 27_000_000n

const idsOf = (...of: Parameters<typeof networkOrder>) => networkOrder(...of).map(({ chain_id }) => chain_id)

test('of unknown balances the cheapest comes first, then the fastest, then as they were', () => {
  expect(idsOf([ethereum, polygon, arbitrum, base], new Map(), DUE)).toEqual([42_161, 8453, 137, 1])
  expect(idsOf([ethereum, polygon, base, arbitrum], new Map(), DUE)).toEqual([8453, 42_161, 137, 1])
})

test('where the wallet holds what is due comes before, where it holds less comes after', () => {
  const holdings = new Map([
    [1, DUE],
    [137, DUE + 1n],
    [8453, DUE - 1n],
  ])
  expect(idsOf([base, arbitrum, ethereum, polygon], holdings, DUE)).toEqual([137, 1, 42_161, 8453])
})

test('one that stands still is last, whatever the wallet holds there', () => {
  expect(idsOf([network(8453, 30, true), ethereum], new Map([[8453, DUE]]), DUE)).toEqual([1, 8453])
})

test('test nets and chains of developers cost nothing', () => {
  expect(idsOf([base, network(84_532, 30), network(31_337, 3)], new Map(), DUE)).toEqual([31_337, 84_532, 8453])
})
