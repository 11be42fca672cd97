import { type PayoutBooks, payoutDifferences } from './payouts'

const [SHOP, NEXT, ROUTER] = [1, 2, 3].map(digit => `0x${String(digit).repeat(40)}`) as [string, string, string]
const since = '2026-11-20T12:00:00Z'
const row = (merchant_version: number, payout_address: string | null) => ({
  ...{ merchant_id: 'm1', merchant_version, payout_address, since },
})
const span = (address: string) => ({
  ...{ chain_id: 1, address, revision: 1, generation: 'g', watch_from: '5', watch_until: null, asked_generation: 'g', asked_from: null },
})
const books: PayoutBooks = {
  ...{ payoutAddresses: [row(1, SHOP), row(2, NEXT)], merchants: [{ id: 'm1', version: 2, payout_address: NEXT }] },
  ...{ chainId: 1, generation: 'g', token: '0xbb', now: Date.parse(since) + 3_600_000, hasForgotten: false },
  payouts: [SHOP, NEXT].map(address => ({ chain_id: '1', address, revision: 1, watch_from: '5', watch_until: null })),
  payoutSpans: [SHOP, NEXT].map(span),
  attachments: [],
  orders: [
    {
      ...{ id: 'o1', merchant_id: 'm1', merchant_version: 1, merchant_address: SHOP, router_address: ROUTER, deposit_address: null },
      created_at: since,
    },
  ],
}

it('payout addresses are those of merchants and orders, and each is watched', () => {
  expect(payoutDifferences(books)).toEqual([])
  const lies: [string, Partial<PayoutBooks>][] = [
    ['does not watch', { payouts: books.payouts.slice(1) }],
    ['which no merchant has', { payoutAddresses: [row(2, NEXT)] }],
    ['was not sent', { payoutSpans: [{ ...span(SHOP), asked_generation: null }, span(NEXT)] }],
    ['the newest payout address', { payoutAddresses: [row(1, NEXT), row(2, SHOP)] }],
    ['by version 1', { payoutAddresses: [row(1, NEXT), row(2, NEXT)] }],
    ['after its order', { payoutAddresses: [{ ...row(1, SHOP), since: '2026-11-21T12:00:00Z' }, row(2, NEXT)] }],
    ['does not know how', { payoutSpans: books.payoutSpans.slice(1) }],
    ['which orders believes', { payouts: books.payouts.slice(1) }],
    ['watch_until', { payouts: books.payouts.map(each => ({ ...each, watch_until: '9' })) }],
    ['watch_from', { payouts: books.payouts.map(each => ({ ...each, watch_from: '4' })) }],
    ['generation', { payoutSpans: books.payoutSpans.map(each => ({ ...each, generation: 'f' })) }],
    ['was asked for from 4 on', { payoutSpans: [{ ...span(SHOP), asked_from: '4' }, span(NEXT)] }],
  ]
  for (const [name, lie] of lies)
    expect([name, payoutDifferences({ ...books, ...lie })]).toEqual([name, expect.arrayContaining([expect.stringContaining(name)])])
})

it('an order has the address of its first network where it is not offered, until it is counted there', () => {
  const payoutAddresses = [{ ...row(1, SHOP), of_networks: { 2: NEXT } }, row(2, NEXT)]
  const placed = (merchant_addresses: object, isOffered: boolean) =>
    books.orders.map(order => ({ ...order, chain_id: 1, merchant_addresses, networks: [{ chainId: 2, isOffered }] }))
  const found = (merchant_addresses: object, isOffered: boolean, attachments: PayoutBooks['attachments'] = []) =>
    payoutDifferences({ ...books, payoutAddresses, attachments, orders: placed(merchant_addresses, isOffered) }).length
  expect([found({ 2: NEXT }, true), found({}, false), found({}, true, [{ order_id: 'o1', payment_id: '2:0xab:0' }])]).toEqual([0, 0, 0])
  expect([found({}, true), found({ 2: ROUTER }, false), found({}, true, [{ order_id: 'o1', payment_id: '1:0xab:0' }])]).toEqual([1, 1, 1])
})

it('one at which no money can be kept is not asked for', () => {
  const payoutAddresses = [...books.payoutAddresses, { ...row(3, ROUTER), merchant_id: 'm2' }]
  const merchants = [...books.merchants, { id: 'm2', version: 3, payout_address: ROUTER }]
  expect(payoutDifferences({ ...books, payoutAddresses, merchants })).toEqual([])
})
