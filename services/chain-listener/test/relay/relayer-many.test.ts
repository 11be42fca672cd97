import { depositAddress } from '@ponte/payment-router'
import { uuidv7 } from '@ponte/service-kit'
import { hexlify, randomBytes } from 'ethers'
import type { Listening } from '../setup'
import { MERCHANT, type RelayWorld, startRelayWorld } from './relayer-setup'

const COUNT = 2_000
const BLOCKS = 20

let world: RelayWorld
afterAll(() => world.stop())

/** Milliseconds until a block is scanned, and milliseconds of processor for it, one block after another: the medians. */
async function scan(listening: Listening): Promise<{ ms: number; cpuMs: number }> {
  const [times, cpuTimes]: [number[], number[]] = [[], []]
  for (let block = 0; block < BLOCKS; block++) {
    const [startedAt, before] = [performance.now(), process.cpuUsage()]
    await world.chain.mine(1)
    const head = await world.chain.provider.getBlockNumber()
    await listening.until(async () => (await listening.listener.status()).scanned_block === head, 'the block was not scanned')
    const { user, system } = process.cpuUsage(before)
    times.push(performance.now() - startedAt)
    cpuTimes.push((user + system) / 1_000)
  }
  return { ms: median(times), cpuMs: median(cpuTimes) }
}
const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

it('2,000 open addresses do not slow the scan, and money on one of them is published at first sight', async () => {
  world = await startRelayWorld({ noMining: true })
  const listening = await world.start()
  const order = await world.open(listening)
  const before = await scan(listening)
  const many = Array.from({ length: COUNT }, () => {
    const memo = hexlify(randomBytes(32)).slice(2)
    return {
      id: uuidv7(),
      memo,
      address: depositAddress({ router: world.chain.routerAddress, memo, merchant: MERCHANT.address }).toLowerCase(),
    }
  })
  await listening.sql.query(
    `WITH more AS (
       INSERT INTO payables (chain_id, order_id, memo, merchant, router, address, expires_at, watch_from)
       SELECT 31337, id, memo, $4, $5, address, now() + interval '1 hour', 0 FROM unnest($1::uuid[], $2::text[], $3::text[]) AS one (id, memo, address)
       RETURNING address)
     INSERT INTO coverage SELECT 31337, address, '{(,0)}' FROM more`,
    [
      many.map(one => one.id),
      many.map(one => one.memo),
      many.map(one => one.address),
      MERCHANT.address.toLowerCase(),
      world.chain.routerAddress.toLowerCase(),
    ],
  )
  const isLevel = async () =>
    (await listening.sql.query("SELECT 1 FROM payables JOIN coverage ON subject = address WHERE blocks = '{(,)}'::int8multirange"))
      .rowCount ===
    COUNT + 1
  await listening.until(async () => {
    await world.chain.mine(1)
    return isLevel()
  }, 'the addresses are not level with the scan')
  const after = await scan(listening)
  await world.pay(order.address, 10_000_000n)
  const startedAt = performance.now()
  await world.chain.mine(1)
  await listening.until(() => listening.published.payments().length > 0, 'the transfer was not published')
  const found = performance.now() - startedAt
  process.stdout.write(
    `a block, median of ${BLOCKS}: ${before.ms.toFixed(1)} ms (${before.cpuMs.toFixed(1)} ms of processor) with 1 open address, ` +
      `${after.ms.toFixed(1)} ms (${after.cpuMs.toFixed(1)}) with ${COUNT + 1}; a transfer among them published ${found.toFixed(0)} ms after its block\n`,
  )
  expect(found).toBeLessThan(5_000)
  expect(after.cpuMs).toBeLessThan(before.cpuMs * 1.5 + 2)
})
