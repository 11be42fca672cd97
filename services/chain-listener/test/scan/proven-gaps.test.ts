import { startFaultProxy } from '@ponte/local-servers'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { silentLogger } from '@ponte/service-kit'
import type { Watch } from '../../src/logs/filter'
import { type Deposit, TRANSFER_TOPIC, toDeposits, topicOf } from '../../src/logs/transfer'
import { fetchHeader } from '../../src/proof/header'
import { createProver } from '../../src/proof/prover'
import { openNode } from '../../src/rpc/node'
import { openNodes } from '../../src/rpc/pool'
import { createVotes } from '../../src/scan/checks/quorum'
import { fetchBackfill } from '../../src/scan/fetch'
import { hex, sealedBlock, word } from '../sealed-block'

const ROUTER = `0x${'0e'.repeat(20)}`
const TOKEN = `0x${'70'.repeat(20)}`
const ADDRESS = `0x${'da'.repeat(20)}`
const PAYER = `0x${'bb'.repeat(20)}`

it('a block that was proven for routers alone takes no transfer from what is read for an address', async () => {
  const routerLog = {
    address: ROUTER,
    topics: [PAYMENT_RECEIVED_TOPIC, word(1), word(0xaa), word(0xbb)],
    data: `${word(990_000)}${word(10_000).slice(2)}`,
  }
  const transferLog = { address: TOKEN, topics: [TRANSFER_TOPIC, topicOf(PAYER), topicOf(ADDRESS)], data: word(5_000_000) }
  const block = sealedBlock({ number: 1, parentHash: word(9), time: 1_700_000_001 }, [{ hash: word(77), logs: [routerLog, transferLog] }])
  const logs = block.receipts.flatMap(receipt => receipt.logs)
  const proxy = await startFaultProxy('http://127.0.0.1:1')
  proxy.set({
    whole(calls, response) {
      const results = calls.map(({ id, method, params: [first] }) => {
        const { address } = Object(first) as { address?: string | string[] }
        const result =
          method === 'eth_chainId'
            ? hex(31_337)
            : method === 'eth_getBlockByNumber'
              ? block.header
              : method === 'eth_getBlockReceipts'
                ? block.receipts
                : logs.filter(log => [address].flat().includes(log.address))
        return { id, jsonrpc: '2.0', result }
      })
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(results.length === 1 ? results[0] : results))
      return true
    },
  })
  const node = openNode(proxy.url, 0, { chainId: 31_337, timeoutMs: 5_000, maxBytes: 1_000_000, rangeMax: 100 })
  const nodes = openNodes([node], { clock: () => performance.now(), logger: silentLogger, onFailOver: () => undefined })
  try {
    const watch: Watch = {
      ...{ chainId: 31_337, header: 'ethereum', latestTime: () => Number.POSITIVE_INFINITY },
      ...{ routers: [ROUTER], token: TOKEN, transfers: 'none' },
    }
    const deposit: Deposit = { address: ADDRESS, memo: 'ab', merchant: PAYER, router: ROUTER }
    const findDeposits = async () => new Map([[ADDRESS, deposit]])
    const prover = createProver({ nodes, mode: 'proven', receipts: 'ethereum', watch, unproven: () => undefined })
    const votes = createVotes({ nodes, watch, findDeposits, quorum: 1, prover, logger: silentLogger, undecided: () => undefined })
    const header = await fetchHeader(node, watch, 1)
    // As the auditor proves it, which looks for payments of routers alone.
    expect((await votes.prove([header])).get(1)?.payments).toHaveLength(1)

    const as = { watch: { ...watch, routers: [], transfers: [ADDRESS] }, findDeposits }
    const { transfers } = await fetchBackfill(node, as.watch, { from: 1, to: 1 }, { number: 1, hash: header.hash })
    const shown = toDeposits(transfers, await findDeposits())
    const payments = await votes.withProven({ from: 1, to: 1, blocks: [] }, shown, as)
    expect(payments.map(({ kind, amount }) => [kind, amount])).toEqual([['transfer', 5_000_000n]])
  } finally {
    await nodes.close()
    await proxy.stop()
  }
})
