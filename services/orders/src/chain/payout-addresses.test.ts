import { silentLogger } from '@ponte/service-kit'
import { createPayoutAddresses } from './payout-addresses'

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const refused = expect.objectContaining({ code: 'payout_address_refused' })

function scene() {
  const state = { ms: 1_000, blocked: false, isAway: false, asked: { blocked: 0, contract: 0, deposit: 0 } }
  const ask = async <T>(what: keyof typeof state.asked, answer: T): Promise<T> => {
    state.asked[what] += 1
    if (state.isAway && what !== 'deposit') throw new Error('no node answers')
    return answer
  }
  const addresses = createPayoutAddresses({
    routerAddress: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    tokenAddress: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
    isDepositAddress: () => ask('deposit', false),
    isBlocked: () => ask('blocked', state.blocked),
    isContract: () => ask('contract', false),
    clock: () => state.ms,
    logger: silentLogger,
  })
  return { state, require: () => addresses.require(ADDRESS) }
}

test('an address that is blocked gets no more orders after a few seconds, and again some when the block is lifted', async () => {
  const { state, require } = scene()
  await require()
  state.blocked = true
  state.ms += 16_000
  await expect(require()).rejects.toThrow(refused)
  state.blocked = false
  state.ms += 31_000
  await expect(require()).resolves.toEqual({ isContract: false })
})

test('a burst of orders asks once, and what cannot change asks for minutes', async () => {
  const { state, require } = scene()
  await Promise.all(Array.from({ length: 100 }, require))
  expect(state.asked).toEqual({ blocked: 1, contract: 1, deposit: 1 })
  for (let n = 0; n < 30; n++) {
    state.ms += 16_000
    await require()
  }
  expect(state.asked).toEqual({ blocked: 31, contract: 1, deposit: 1 })
})

test('while no node answers orders are opened, and it is asked again after half a minute', async () => {
  const { state, require } = scene()
  state.isAway = true
  await expect(require()).resolves.toEqual({ isContract: null })
  state.ms += 20_000
  await require()
  expect(state.asked.blocked).toBe(1)
  state.isAway = false
  state.ms += 11_000
  await expect(require()).resolves.toEqual({ isContract: false })
})

test('a block that was seen stays while no node answers', async () => {
  const { state, require } = scene()
  state.blocked = true
  await expect(require()).rejects.toThrow(refused)
  state.isAway = true
  state.ms += 31_000
  await expect(require()).rejects.toThrow(refused)
})
