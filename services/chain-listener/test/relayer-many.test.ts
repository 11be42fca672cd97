import { depositAddress } from '@ponte/payment-router'
import { uuidv7 } from '@ponte/service-kit'
import { hexlify, randomBytes } from 'ethers'
import { MERCHANT, type RelayWorld, startRelayWorld } from './relayer-setup'
import type { Listening } from './setup'

const COUNT = 2_000
const BLOCKS = 20

let world: RelayWorld
afterAll(() => world.stop())

/** Milliseconds from a block's mining until it is scanned, one block after another. */
async function scanTimes(listening: Listening): Promise<number[]> {
  const times: number[] = []
  for (let block = 0; block < BLOCKS; block++) {
    await world.chain.mine(1)
    const head = await world.chain.provider.getBlockNumber()
    const startedAt = performance.now()
    await listening.until(async () => Number((await listening.cursor())?.scanned_number) >= head, 'the block was not scanned')
    times.push(performance.now() - startedAt)
  }
  return times.sort((a, b) => a - b)
}
const median = (times: number[]) => times[Math.floor(times.length / 2)] ?? 0

it('2,000 open addresses do not slow the scan, and money on one of them is found in the next block', async () => {
  world = await startRelayWorld({ noMining: true })
  const listening = await world.start()
  const order = await world.open(listening)
  const before = await scanTimes(listening)
  const many = Array.from({ length: COUNT }, () => {
    const memo = hexlify(randomBytes(32)).slice(2)
    return {
      id: uuidv7(),
      memo,
      address: depositAddress({ router: world.chain.routerAddress, memo, merchant: MERCHANT.address }).toLowerCase(),
    }
  })
  await listening.sql.query(
    `INSERT INTO payables (chain_id, order_id, memo, merchant, router, address, asked_units, expires_at)
     SELECT 31337, id, memo, $4, $5, address, 10000000, now() + interval '1 hour' FROM unnest($1::uuid[], $2::text[], $3::text[]) AS one (id, memo, address)`,
    [
      many.map(one => one.id),
      many.map(one => one.memo),
      many.map(one => one.address),
      MERCHANT.address.toLowerCase(),
      world.chain.routerAddress.toLowerCase(),
    ],
  )
  const after = await scanTimes(listening)
  await world.pay(order.address, 10_000_000n)
  await world.chain.mine(1)
  const startedAt = performance.now()
  await listening.until(() => listening.told.payments().length > 0, 'the transfer was not told')
  const found = performance.now() - startedAt
  const [scan, withMany] = [median(before), median(after)]
  process.stdout.write(
    `scan of a block, median of ${BLOCKS}: ${scan.toFixed(1)} ms with 1 open address, ${withMany.toFixed(1)} ms with ${COUNT + 1}; ` +
      `a transfer among them told after ${found.toFixed(0)} ms\n`,
  )
  expect(found).toBeLessThan(10_000)
  expect(withMany).toBeLessThan(scan * 3 + 100)
}, 60_000)
