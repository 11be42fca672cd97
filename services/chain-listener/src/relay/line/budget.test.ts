import type { Spent } from '../store/transactions'
import { type Budgets, exceeded, ofWallets } from './budget'

const budgets: Budgets = { orderUnits: 10n, merchantDayUnits: 100n, dayUnits: 400n, newMerchantsDayUnits: 80n }
const spent: Spent = {
  dayUnits: 300n,
  newMerchantsUnits: 75n,
  established: new Set(['m', 'n', 'k', 'r']),
  merchants: new Map([['m', 95n]]),
  orders: new Map([['o', 8n]]),
  reverted: new Map([['r', 25n]]),
}

const over = (from: Spent, orderIds: string[], merchants: string[], units: bigint, isNewPayer = true) => [
  ...exceeded(from, budgets, { orderIds, merchants, units, isNewPayer }),
]

describe('a budget', () => {
  it.each([
    ['o', 'm', 2n, []],
    ['o', 'm', 3n, [['o', 'order_budget']]],
    ['p', 'm', 5n, []],
    ['p', 'm', 6n, [['p', 'merchant_budget']]],
    ['p', 'n', 10n, []],
  ] as const)('order %s of %s, %s more: %j', (orderId, merchant, units, expected) => {
    expect(over(spent, [orderId], [merchant], units)).toEqual(expected)
  })
  it('of the deployment is asked after those of order and merchant', () => {
    expect(over({ ...spent, dayUnits: 395n }, ['p'], ['n'], 6n)).toEqual([['p', 'day_budget']])
  })
  it('counts what goes in one transaction together, and what is over leaves the others their part', () => {
    expect(over(spent, ['p', 'q', 'r'], ['m', 'm', 'n'], 5n)).toEqual([['q', 'merchant_budget']])
    expect(over({ ...spent, dayUnits: 391n }, ['p', 'q', 'r'], ['n', 'm', 'k'], 5n)).toEqual([
      ['q', 'day_budget'],
      ['r', 'day_budget'],
    ])
  })
  it('keeps three quarters of a merchant from new payers once signatures that reverted have cost a quarter', () => {
    expect(over(spent, ['p'], ['r'], 1n)).toEqual([['p', 'reverted_budget']])
    expect(over(spent, ['p'], ['r'], 1n, false)).toEqual([])
    expect(over({ ...spent, reverted: new Map([['r', 24n]]) }, ['p'], ['r'], 1n)).toEqual([])
  })
  it('gives new merchants one part of a day together, however many they are, and leaves the rest to the others', () => {
    expect(over(spent, ['p', 'q'], ['new', 'newer'], 5n)).toEqual([['q', 'new_merchants_budget']])
    expect(over(spent, ['p', 'q', 's'], ['new', 'newer', 'm'], 5n)).toEqual([['q', 'new_merchants_budget']])
    expect(over({ ...spent, newMerchantsUnits: 80n }, ['p', 'q'], ['n', 'new'], 5n)).toEqual([['q', 'new_merchants_budget']])
  })
  it('leaves contract wallets a quarter of a day, and of an order the whole', () => {
    expect(ofWallets(budgets)).toEqual({ orderUnits: 10n, merchantDayUnits: 25n, dayUnits: 100n, newMerchantsDayUnits: 20n })
  })
})
