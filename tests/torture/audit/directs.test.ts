import { directDifferences, directsOf, type SeenDirect } from './directs'
import type { Payout } from './payouts'

const [PLATFORM, PAYER, SHOP, TILL] = ['0xFe', '0xaa', '0xbb', '0xcc']
const place = { block: 1, blockHash: '0x1', time: 10 }
const payouts: Payout[] = [
  { kind: 'payout', at: 0, merchant: 'shop', version: 1, address: SHOP, since: 0 },
  { kind: 'payout', at: 0, merchant: 'till', version: 1, address: TILL, since: 0 },
  { kind: 'payout', at: 11_000, merchant: 'till', version: 2, address: SHOP, since: 11_000 },
]
const transfers = [
  // In one transaction: plain, a router's fee and share, plain; listed in no order.
  { ...place, txHash: '0x01', logIndex: 3, from: PAYER, to: SHOP, amount: 99n },
  { ...place, txHash: '0x01', logIndex: 0, from: PAYER, to: SHOP, amount: 99n },
  { ...place, txHash: '0x01', logIndex: 1, from: PAYER, to: '0xfe', amount: 1n },
  { ...place, txHash: '0x01', logIndex: 2, from: PAYER, to: SHOP, amount: 99n },
  { ...place, txHash: '0x02', logIndex: 4, from: PAYER, to: TILL, amount: 7n },
  // After the till has moved to the shop's address: of both there, and of none at the one before.
  { ...place, time: 11, txHash: '0x03', logIndex: 0, from: PAYER, to: SHOP, amount: 5n },
  { ...place, time: 11, txHash: '0x03', logIndex: 1, from: PAYER, to: TILL, amount: 6n },
]
const directs = directsOf(transfers, payouts, PLATFORM)
const ofShop: SeenDirect[] = [
  { tx_hash: '0x01', address: '0xBB', amount: '0.000099' },
  { tx_hash: '0x01', address: '0xBB', amount: '0.000099' },
  { tx_hash: '0x03', address: '0xBB', amount: '0.000005' },
]

test('what no router moved is whose the address was at its block`s time', () => {
  expect(directs.map(({ merchant, txHash, units, payout }) => [merchant, txHash, units, payout])).toEqual([
    ['shop', '0x01', 99n, SHOP],
    ['shop', '0x01', 99n, SHOP],
    ['till', '0x02', 7n, TILL],
    ['shop', '0x03', 5n, SHOP],
    ['till', '0x03', 5n, SHOP],
  ])
  expect(directDifferences('shop', ofShop, directs)).toEqual([])
  const takenBack = [
    { tx_hash: '0x04', address: '0xBB', amount: '0.000001' },
    { tx_hash: '0x04', address: '0xBB', amount: '-0.000001' },
  ]
  expect(directDifferences('shop', [...ofShop, ...takenBack], directs)).toEqual([])
})

test.each<[string, SeenDirect[], string]>([
  ['dropped', ofShop.slice(0, 2), '0x03 to 0xbb: undefined and must be 5'],
  ['doubled', [...ofShop, ...ofShop.slice(2)], '0x03 to 0xbb: 10 and must be 5'],
  ['a unit too small', [...ofShop.slice(0, 2), { tx_hash: '0x03', address: '0xBB', amount: '0.000004' }], '0x03 to 0xbb: 4 and must be 5'],
  ['of another', [...ofShop, { tx_hash: '0x02', address: '0xCC', amount: '0.000007' }], '0x02 to 0xcc: 7 and must be undefined'],
])('an entry that is %s is named', (_, seen, name) => {
  expect(directDifferences('shop', seen, directs)).toEqual([`direct transfers of merchant shop, ${name}`])
})
