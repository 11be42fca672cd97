import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startFaultProxy } from '@ponte/local-servers'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { type Bus, until } from '@ponte/service-kit'
import { hex, sealedBlock, word } from '../sealed-block'
import { startListener } from '../setup'

const PAYMENTS = Number(process.env.PONTE_CHAIN_PAYMENTS ?? 20_000)
const PER_BLOCK = 20
const HEIGHT = PAYMENTS / PER_BLOCK + 200
/** However many payments: if one were kept in memory it would be a kilobyte at least. */
const GROWTH_MB_MAX = 6

const ROUTER = `0x${'0e'.repeat(20)}`
/** A chain too long to be mined here, made up as it is asked for: its blocks follow from their numbers, and only their hashes are kept. */
const hashes: string[] = []
function blockAt(number: number) {
  const payments = number >= 1 && number <= PAYMENTS / PER_BLOCK ? PER_BLOCK : 0
  const transactions = Array.from({ length: payments }, (_, index) => ({
    hash: word(1e12 + number * PER_BLOCK + index),
    logs: [
      {
        address: ROUTER,
        topics: [PAYMENT_RECEIVED_TOPIC, word(number * PER_BLOCK + index + 1), word(0xaa), word(0x10_0000 + number * PER_BLOCK + index)],
        data: `${word(990_000)}${word(10_000).slice(2)}`,
      },
    ],
  }))
  return sealedBlock({ number, parentHash: hashes[number - 1] ?? word(0), time: 1_700_000_000 + number }, transactions)
}
for (let number = 0; number <= HEIGHT; number++) hashes.push(blockAt(number).header.hash)
let head = HEIGHT * 0.4
const numbers = new Map(hashes.map((hash, number) => [hash, number]))

const logs = (from: number, to: number) =>
  Array.from({ length: Math.min(to, HEIGHT) - from + 1 }, (_, n) => blockAt(from + n).receipts.flatMap(receipt => receipt.logs)).flat()

function answer(method: string, [first]: unknown[]): unknown {
  if (method === 'eth_chainId') return hex(31_337)
  if (method === 'eth_getBlockByNumber') return blockAt(first === 'latest' ? head : Number(first)).header
  if (method === 'eth_getBlockReceipts') return blockAt(numbers.get(String(first)) ?? 0).receipts
  const { fromBlock, toBlock, blockHash } = first as Record<string, string>
  const number = numbers.get(blockHash ?? '')
  return number === undefined ? logs(Number(fromBlock), Number(toBlock)) : logs(number, number)
}

/** Publishes to no one, so that no one remembers. */
const nowhere: Bus = {
  name: 'bus',
  publish: async () => undefined,
  accepts: () => true,
  announce: () => undefined,
  consume: queue => ({ name: `${queue} queue` }),
  deadLetters: () => ({ count: async () => 0, list: async () => [], retry: async () => 0, discard: async () => 0 }),
  listen: () => ({ name: 'announcements' }),
}

it('memory stays flat over a long back-fill', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const heapMb = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const node = await startFaultProxy('http://127.0.0.1:1')
  node.set({
    whole(calls, response) {
      const results = calls.map(({ id, method, params }) => ({ id, jsonrpc: '2.0', result: answer(method, params) }))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(results.length === 1 ? results[0] : results))
      return true
    },
  })
  const listening = await startListener({
    ...{ rpcUrls: node.url, router: ROUTER, given: { bus: nowhere } },
    env: { CONFIRMATIONS: '12', RPC_TIMEOUT_MS: '20000' },
  })
  try {
    const scanned = async (number: number) => {
      await until(
        async () => ((await listening.listener.status()).scanned_block ?? 0) >= number,
        `block ${number} was not scanned`,
        120_000,
      )
    }
    // At rest: what is read ahead is in memory meanwhile, and is no growth.
    await scanned(head)
    const early = heapMb()
    head = HEIGHT
    await scanned(head)
    const late = heapMb()
    expect((await listening.payments()).length).toBe(PAYMENTS)
    process.stdout.write(
      `heap after ${0.4 * HEIGHT * PER_BLOCK} payments ${early.toFixed(1)} MB, after ${PAYMENTS} ${late.toFixed(1)} MB\n`,
    )
    expect(late - early).toBeLessThan(GROWTH_MB_MAX)
  } finally {
    await listening.stop()
    await node.stop()
  }
}, 180_000)
