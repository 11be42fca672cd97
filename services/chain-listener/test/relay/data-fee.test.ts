import { MERCHANT, type RelayWorld, startRelayWorld } from './relayer-setup'

const OP_SEPOLIA = 11_155_420
const ORACLE = '0x420000000000000000000000000000000000000F'
/** 0.001 native coin, which is 2.50 USDC at the price below. */
const FEE_WEI = 10n ** 15n

let world: RelayWorld
afterEach(() => world.stop())

/** Code that answers the same word to whatever it is asked. */
const answering = (value: bigint) => `0x7f${value.toString(16).padStart(64, '0')}60005260206000f3`

describe('a chain that charges for the data given to the chain below it', () => {
  const start = async () => {
    world = await startRelayWorld({ chainId: OP_SEPOLIA })
    await world.chain.provider.send('anvil_setCode', [ORACLE, answering(FEE_WEI)])
    return world.start({ CHAIN_ID: String(OP_SEPOLIA), COIN_USDC: '2500', GASLESS_PRIVATE_KEY: '', GAS_BUDGET_ORDER_USDC: '20' })
  }
  const relayed = async (listening: Awaited<ReturnType<typeof start>>) =>
    (await listening.sql.query<{ cost_units: string; outcome: string | null }>('SELECT * FROM relays ORDER BY nonce')).rows

  it('moves nothing that costs more than its share with that charge, and reserves it with what is worth it', async () => {
    const listening = await start()
    const small = await world.open(listening, { usdc: '15.000000' })
    await world.pay(small.address, 15_000_000n)
    // Worth its gas alone, and not with what its data costs.
    const held = async () => (await listening.sql.query('SELECT 1 FROM payables WHERE held_units = 15000000')).rowCount === 1
    await listening.until(held, 'what was sent is not seen')
    const large = await world.open(listening, { usdc: '100.000000' })
    await world.pay(large.address, 100_000_000n)
    await listening.until(async () => (await relayed(listening)).length > 0, 'what is worth it was not swept')
    // Half as much again is kept for a price that rises.
    expect(Number((await relayed(listening))[0]?.cost_units)).toBeGreaterThanOrEqual(3_750_000)
    await listening.until(async () => (await world.chain.balanceOf(MERCHANT.address)) === 99_000_000n, 'it did not arrive')
    expect([await world.chain.balanceOf(small.address), (await relayed(listening)).length]).toEqual([15_000_000n, 1])
  })
})
