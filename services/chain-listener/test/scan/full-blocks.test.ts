import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { receiptsRoot } from '@ponte/payment-router'
import { silentLogger } from '@ponte/service-kit'
import type { Watch } from '../../src/logs/filter'
import type { RawReceipt } from '../../src/logs/receipts'
import { TRANSFER_TOPIC } from '../../src/logs/transfer'
import type { Header } from '../../src/proof/header'
import { createProver } from '../../src/proof/prover'
import { RpcError } from '../../src/rpc/error'
import type { Call, Node } from '../../src/rpc/node'
import type { Nodes } from '../../src/rpc/pool'
import { createRangeLimit } from '../../src/rpc/range-limit'
import { createVotes } from '../../src/scan/checks/quorum'
import { fetchBlocks } from '../../src/scan/fetch'

// Anyone can fill blocks with receipts, for the price of gas.

const TOKEN = `0x${'a0'.repeat(20)}`
const ROUTER = `0x${'b0'.repeat(20)}`
const watch: Watch = { chainId: 1, header: 'ethereum', latestTime: () => 2, routers: [ROUTER], token: TOKEN, transfers: 'all' }
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
const header = (number: number, change: Partial<Header> = {}): Header => ({
  ...{
    number,
    hash: word(number),
    parentHash: word(number - 1),
    time: 1,
    bloom: '0x',
    receiptsRoot: '0x',
    isSealed: true,
    gasUsed: 20_000_000,
    transactions: [],
  },
  ...change,
})
const receipt = (block: Header, index: number, logs: object[] = []) =>
  ({
    ...{ type: '0x2', status: '0x1', cumulativeGasUsed: '0x5208', logsBloom: `0x${'0'.repeat(512)}`, transactionIndex: '0x0' },
    ...{ transactionHash: word(1_000 + index), blockHash: block.hash, logs },
  }) as RawReceipt
const nodeOf = (answers: Pick<Node, 'ask' | 'outcomes'>): Node =>
  ({ ...answers, name: '1:node', range: () => createRangeLimit(100) }) as unknown as Node

it('of a block whose logs are too many for one answer no more is held than what is watched', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const [TRANSACTIONS, BYTES] = [400, 200_000]
  const block = header(7, { transactions: Array.from({ length: TRANSACTIONS }, (_, index) => word(1_000 + index)) })
  const stuffing = (index: number) => ({ address: ROUTER, topics: [], data: `0x${String(index % 10).repeat(BYTES)}` })
  const transfer = { address: TOKEN, topics: [TRANSFER_TOPIC, word(1), word(2)], data: word(5) }
  let peak = 0
  const heap = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = heap()
  const node = nodeOf({
    ask: async calls => {
      if (calls[0]?.method === 'eth_getLogs') throw new RpcError('too_wide', 'too many logs')
      peak = Math.max(peak, heap() - before)
      const indexes = calls.map(({ params }) => block.transactions.indexOf(params[0]))
      const text = JSON.stringify(indexes.map(index => receipt(block, index, [stuffing(index), transfer])))
      return { results: JSON.parse(text), bytes: text.length, ms: 1 }
    },
    outcomes: async () => [],
  })
  const { transfers } = await fetchBlocks(node, watch, { number: 6, hash: word(6), time: 1 }, 7, block, async () => undefined)
  expect(transfers.map(({ logIndex }) => logIndex)).toEqual(Array.from({ length: TRANSACTIONS }, (_, index) => 2 * index + 1))
  expect(peak).toBeLessThan((TRANSACTIONS * BYTES) / 2)
})

it('receipts of one full block at a time are held to prove what many hold', async () => {
  const receipts = [receipt(header(0), 0)]
  let [asked, most] = [0, 0]
  const headers = Array.from({ length: 20 }, (_, number) =>
    header(number, { receiptsRoot: receiptsRoot(receipts, 'ethereum') ?? '', transactions: [word(1_000)] }),
  )
  const node = nodeOf({
    ask: async (calls: readonly Call[]) => {
      most = Math.max(most, ++asked)
      await new Promise(setImmediate)
      asked -= 1
      return { results: calls.map(() => receipts), bytes: 0, ms: 0 }
    },
    outcomes: async () => [],
  })
  const use: Nodes['use'] = (_question, work) => work(node)
  const nodes = { use, useAnother: use } as unknown as Nodes
  const prover = createProver({ nodes, mode: 'proven', receipts: 'ethereum', watch, unproven: () => undefined })
  const findDeposits = async () => new Map()
  const votes = createVotes({ nodes, watch, findDeposits, quorum: 1, prover, logger: silentLogger, undecided: () => undefined })
  const proofs = await votes.prove(headers)
  expect([proofs.size, most]).toEqual([20, 1])
})
