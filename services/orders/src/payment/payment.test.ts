import { mainChainOf, type OtherNetwork, type Payable, type Payment } from './payment'

const network = (chainId: number) => ({ chainId, isOffered: true }) as OtherNetwork
const order = { chainId: 1, networks: [network(2), network(3)] } as unknown as Payable
const paidOn = (chainId: number) => ({ id: `${chainId}:0x:0`, status: 'confirmed', grossUnits: 5n }) as Payment

test.each([
  ['where most of its money came', [paidOn(2), paidOn(3), paidOn(3)], [1, 2, 3], 3],
  ['its first where nothing came', [], [1, 2, 3], 1],
  ['one that is followed, also where nothing came there', [paidOn(1)], [2, 3], 2],
  ['its first where none is followed', [paidOn(2)], [], 1],
])('the chain on which money of an order goes back is %s', (_, payments, followed, chainId) => {
  expect(mainChainOf(order, payments, new Set(followed))).toBe(chainId)
})
