import { startFaultProxy } from '@ponte/local-servers'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { silentLogger } from '@ponte/service-kit'
import { runBench } from '@ponte/service-kit/testing'
import type { Watch } from '../src/logs/filter'
import { TRANSFER_TOPIC } from '../src/logs/transfer'
import { fetchHeaders } from '../src/proof/header'
import { createProver, type ProofMode, proofModes } from '../src/proof/prover'
import { openNode } from '../src/rpc/node'
import { openNodes } from '../src/rpc/pool'
import { sealedBlock, word } from '../test/sealed-block'

const ROUNDS = Number(process.env.PONTE_BENCH_ROUNDS ?? 20)
const NUMBER = 7
const TIME = 1_700_000_000
const ROUTER = `0x${'b0'.repeat(20)}`
const TOKEN = `0x${'a0'.repeat(20)}`
const LOGS_EACH = 3
const watch: Watch = { chainId: 1, header: 'ethereum', latestTime: () => TIME, routers: [ROUTER], token: TOKEN, transfers: 'all' }

/** A block in which every transaction leaves three logs, transfers of the token among them, and one pays the router. */
function blockOf(count: number) {
  const paid = {
    address: ROUTER,
    topics: [PAYMENT_RECEIVED_TOPIC, word(1), word(2), word(3)],
    data: `${word(990_000)}${word(10_000).slice(2)}`,
  }
  const transactions = Array.from({ length: count }, (_, index) => ({
    hash: word(index + 1),
    logs: Array.from({ length: LOGS_EACH }, (_, log) => ({
      address: log === 0 ? TOKEN : `0x${'c0'.repeat(20)}`,
      topics: [TRANSFER_TOPIC, word(index + 5), word(index + 9)],
      data: word(1_000 + index),
    })),
  }))
  transactions[0]?.logs.splice(1, 1, paid)
  return sealedBlock({ number: NUMBER, parentHash: word(1), time: TIME }, transactions)
}

interface Row {
  receipts: number
  mode: ProofMode
  kilobytes: number
  ms: number
}

async function measure(count: number): Promise<Row[]> {
  const { receipts, header } = blockOf(count)
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
  const node = openNode(proxy.url, 0, { chainId: 1, timeoutMs: 60_000, maxBytes: 64_000_000, rangeMax: 1 })
  const nodes = openNodes([node], { clock: () => performance.now(), logger: silentLogger, onFailOver: () => undefined })
  const rows: Row[] = []
  for (const mode of proofModes) {
    const once = async () => {
      const [read] = await nodes.use('headers', one => fetchHeaders(one, watch, [NUMBER]))
      const prover = createProver({ nodes, mode, receipts: 'ethereum', watch, unproven: () => undefined })
      return read && prover.prove([read], true)
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

runBench(async () => {
  const rows = [...(await measure(200)), ...(await measure(1_500))]
  console.log('  a block with a payment, read and proven; the stand-in for a node works in the same process')
  for (const { receipts, mode, kilobytes, ms } of rows)
    console.log(
      `  ${String(receipts).padStart(5)} receipts  ${mode.padEnd(9)} ${String(kilobytes).padStart(8)} kB  ${String(ms).padStart(7)} ms`,
    )
  return rows
})
