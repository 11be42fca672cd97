import { writeFileSync } from 'node:fs'
import { RLP } from '@ethereumjs/rlp'
import { startFaultProxy } from '@ponte/local-servers'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { silentLogger } from '@ponte/service-kit'
import { keccak256 } from 'ethers'
import { bloomBits } from '../src/logs/bloom'
import type { Watch } from '../src/logs/filter'
import { hexBytes, quantityBytes } from '../src/logs/header'
import { type RawReceipt, receiptsRoot } from '../src/logs/receipts'
import { TRANSFER_TOPIC } from '../src/logs/transfer'
import { fetchHeaders } from '../src/proof/header'
import { createProver, type ProofMode, proofModes } from '../src/proof/prover'
import { openNode } from '../src/rpc/node'
import { openNodes } from '../src/rpc/pool'

const ROUNDS = Number(process.env.PONTE_BENCH_ROUNDS ?? 20)
const NUMBER = 7
const TIME = 1_700_000_000
const ROUTER = `0x${'b0'.repeat(20)}`
const TOKEN = `0x${'a0'.repeat(20)}`
const LOGS_EACH = 3
const watch: Watch = { chainId: 1, sealed: true, latestTime: () => TIME, routers: [ROUTER], token: TOKEN, transfers: 'all' }

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
const hex = (value: number) => `0x${value.toString(16)}`

function bloomOf(items: readonly string[]): string {
  const bytes = new Uint8Array(256)
  for (const bit of items.flatMap(bloomBits)) bytes[255 - (bit >> 3)] = (bytes[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7))
  return `0x${Buffer.from(bytes).toString('hex')}`
}

/** A block in which every transaction leaves three logs, transfers of the token among them, and one pays the router. */
async function blockOf(count: number) {
  const place = { blockNumber: hex(NUMBER), blockHash: '', blockTimestamp: hex(TIME), removed: false }
  const receipts: RawReceipt[] = Array.from({ length: count }, (_, index) => ({
    ...{ type: '0x2', status: '0x1', cumulativeGasUsed: hex(90_000 * (index + 1)), gasUsed: '0x15f90', effectiveGasPrice: '0x3b9aca00' },
    ...{
      transactionHash: word(index + 1),
      transactionIndex: hex(index),
      from: ROUTER,
      to: TOKEN,
      contractAddress: null,
      blockHash: '',
      blockNumber: hex(NUMBER),
    },
    logsBloom: bloomOf([TOKEN, TRANSFER_TOPIC, word(index)]),
    logs: Array.from({ length: LOGS_EACH }, (_, log) => ({
      ...{
        ...place,
        transactionHash: word(index + 1),
        transactionIndex: hex(index),
        logIndex: hex(index * LOGS_EACH + log),
        data: word(1_000 + index),
      },
      address: log === 0 ? TOKEN : `0x${'c0'.repeat(20)}`,
      topics: [TRANSFER_TOPIC, word(index + 5), word(index + 9)],
    })),
  }))
  const paid = receipts[0]?.logs[1]
  if (!paid) throw new Error('a block without receipts')
  Object.assign(paid, {
    address: ROUTER,
    topics: [PAYMENT_RECEIVED_TOPIC, word(1), word(2), word(3)],
    data: `${word(990_000)}${word(10_000).slice(2)}`,
  })
  const header = {
    ...{
      parentHash: word(1),
      sha3Uncles: word(2),
      miner: ROUTER,
      stateRoot: word(3),
      transactionsRoot: word(4),
      receiptsRoot: await receiptsRoot(receipts),
    },
    ...{
      logsBloom: bloomOf([TOKEN, TRANSFER_TOPIC, ROUTER, PAYMENT_RECEIVED_TOPIC]),
      difficulty: '0x0',
      number: hex(NUMBER),
      gasLimit: '0x1c9c380',
    },
    ...{ gasUsed: '0xe4e1c0', timestamp: hex(TIME), extraData: '0x', mixHash: word(5), nonce: '0x0000000000000000', baseFeePerGas: '0x7' },
  }
  const quantities = ['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas']
  const hash = keccak256(
    RLP.encode(
      Object.entries(header).map(([name, value]) => (quantities.includes(name) ? quantityBytes(String(value)) : hexBytes(String(value)))),
    ),
  )
  for (const log of receipts.flatMap(({ logs }) => logs)) log.blockHash = hash
  return { receipts, header: { ...header, hash, transactions: receipts.map(({ transactionHash }) => transactionHash) } }
}

interface Row {
  receipts: number
  mode: ProofMode
  kilobytes: number
  ms: number
}

async function measure(count: number): Promise<Row[]> {
  const { receipts, header } = await blockOf(count)
  const proxy = await startFaultProxy('http://127.0.0.1:1')
  let bytes = 0
  proxy.set({
    whole(calls, response) {
      const results = calls.map(({ id, method }) => ({ id, jsonrpc: '2.0', result: method === 'eth_getBlockReceipts' ? receipts : header }))
      const body = JSON.stringify(results.length === 1 ? results[0] : results)
      bytes += body.length
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      return true
    },
  })
  const node = openNode(proxy.url, 0, { chainId: 1, timeoutMs: 60_000, maxBytes: 64_000_000 })
  const nodes = openNodes([node], { stallMs: 60_000, clock: () => performance.now(), logger: silentLogger, onFailOver: () => undefined })
  const rows: Row[] = []
  for (const mode of proofModes) {
    const prover = createProver({ nodes, mode })
    const seen = await createProver({ nodes, mode: 'all' }).logs(
      NUMBER,
      { number: NUMBER, hash: header.hash, parentHash: word(1), time: TIME },
      watch,
    )
    const once = async () => {
      if (prover.isComplete) return prover.logs(NUMBER, { number: NUMBER, hash: header.hash, parentHash: word(1), time: TIME }, watch)
      const [read] = await nodes.use(one => fetchHeaders(one, watch, [NUMBER]))
      return read && prover.refute(seen.payments, new Map([[NUMBER, read]]), watch)
    }
    await once()
    bytes = 0
    const started = performance.now()
    for (let round = 0; round < ROUNDS; round++) await once()
    rows.push({
      receipts: count,
      mode,
      kilobytes: Math.round(bytes / ROUNDS / 100) / 10,
      ms: Math.round(((performance.now() - started) / ROUNDS) * 10) / 10,
    })
  }
  await nodes.close()
  await proxy.stop()
  return rows
}

async function main() {
  const rows = [...(await measure(200)), ...(await measure(1_500))]
  console.log('  a block with a payment, read and proven; the stand-in for a node works in the same process')
  for (const { receipts, mode, kilobytes, ms } of rows)
    console.log(
      `  ${String(receipts).padStart(5)} receipts  ${mode.padEnd(9)} ${String(kilobytes).padStart(8)} kB  ${String(ms).padStart(7)} ms`,
    )
  const file = process.env.PONTE_BENCH_RESULT
  if (file) writeFileSync(file, JSON.stringify(rows, null, 2))
}

main().then(
  () => process.exit(0),
  error => {
    console.error(error)
    process.exit(1)
  },
)
