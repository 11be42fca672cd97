import { createHash } from 'node:crypto'
import type { CheckpointBody, CheckpointListBody } from '@ponte/contracts'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { signCaller } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { chainListenerMigrations } from '../src'
import { checkpointStore } from '../src/checkpoints'
import { type Chain, memoOf, startChain } from './chain'
import { SECRET, TAKING } from './relay/signatures'
import { type Listening, startListener, TOKEN } from './setup'

const BLOCKS = 10
const ENV = { ...TAKING, CHECKPOINT_BLOCKS: String(BLOCKS), RECONCILE_EVERY_S: '1', REORG_WINDOW: '40' }

interface RawLog {
  address: string
  topics: string[]
  data: string
  blockNumber: string
  blockHash: string
  transactionHash: string
  logIndex: string
}

let chain: Chain
let listening: Listening
beforeEach(async () => {
  chain = await startChain()
})
afterEach(async () => {
  await listening?.stop()
  await chain?.stop()
})
const start = async (more: { databaseUrl?: string; env?: Record<string, string>; router?: string } = {}) => {
  const { env = {}, router = chain.emitter, ...rest } = more
  listening = await startListener({ rpcUrls: chain.anvil.rpcUrl, router, env: { ...ENV, ...env }, ...rest })
  return listening
}

async function list(query = '', from: Listening = listening): Promise<CheckpointListBody> {
  const token = signCaller({ kind: 'checkout' }, { secrets: [SECRET], audience: 'chain-listener' })
  const url = `http://127.0.0.1:${from.listener.http?.port()}/api/v1/chain/checkpoints${query}`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  expect(answer.status).toBe(200)
  return (await answer.json()) as CheckpointListBody
}
const checkpoints = async () => (await list('?limit=100')).data
/** A line of docs/chain.md, made of the node's log alone. */
const lineOf = (log: RawLog) => {
  const word = (hex = '') => `0x${hex.slice(-40)}`
  const [, memo = '', merchant, payer] = log.topics
  const [share, fee] = [BigInt(log.data.slice(0, 66)), BigInt(`0x${log.data.slice(66)}`)]
  return [
    ...[Number(log.blockNumber), log.blockHash, log.transactionHash, Number(log.logIndex), log.address.toLowerCase()],
    ...[memo.slice(2), word(merchant), word(payer), share, fee],
  ].join(' ')
}
const logs = (from: number, to: number, address: string | string[] = chain.emitter) =>
  chain.rpc<RawLog[]>('eth_getLogs', {
    ...{ address, topics: [PAYMENT_RECEIVED_TOPIC] },
    ...{ fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` },
  })
const headHash = async (block: number) => (await chain.rpc<{ hash: string }>('eth_getBlockByNumber', `0x${block.toString(16)}`, false)).hash

/** The hash of docs/chain.md over these lines, each with its word before it. */
const hashOf = (one: CheckpointBody, lines: readonly string[]) => {
  const head = [
    ...['ponte.checkpoint.1', one.previous_hash, one.chain_id, one.token_address.toLowerCase()],
    ...[one.router_addresses.map(router => router.toLowerCase()).join(), `${one.from_block} ${one.to_block} ${one.block_hash}`],
  ]
  return `0x${createHash('sha256')
    .update([...head, ...lines].map(line => `${line}\n`).join(''))
    .digest('hex')}`
}
const expectFromChain = async (all: readonly CheckpointBody[]) => {
  let previous = `0x${'0'.repeat(64)}`
  for (const one of all) {
    const lines = (await logs(one.from_block, one.to_block)).map(log => `payment ${lineOf(log)}`)
    expect(one).toMatchObject({ previous_hash: previous, payments: lines.length, late: [], gone: [], token_address: TOKEN })
    expect(one.block_hash).toBe(await headHash(one.to_block))
    expect(one.hash).toBe(hashOf(one, lines))
    previous = one.hash
  }
}
const misfits = async () =>
  (await listening.sql.query("SELECT block_number::int AS block, detail FROM differences WHERE kind = 'checkpoint' ORDER BY 1")).rows
const mineTo = async (block: number) => chain.mine(block - (await chain.height()))

test('a checkpoint is written of every ten confirmed blocks, and who has a node comes to the same hashes', async () => {
  await start()
  for (let round = 1; round <= 3; round++) {
    await chain.pay([{ memo: memoOf(round) }, { memo: memoOf(round + 100), share: 7n, fee: 0n }])
    await chain.pay([{ memo: memoOf(round + 200) }], 2)
    await chain.mine(7)
  }
  await mineTo(29)
  await listening.idle()
  const all = await checkpoints()
  expect(all.map(({ from_block, to_block }) => [from_block, to_block])).toEqual([
    [0, 9],
    [10, 19],
    [20, 29],
  ])
  expect(all.reduce((sum, { payments }) => sum + payments, 0)).toBe(9)
  await expectFromChain(all)
  await mineTo(38)
  await listening.idle()
  expect(await checkpoints()).toEqual(all)
  await listening.until(async () => /^ponte_reconcile_differences\{[^}]*\} 0$/m.test(await metrics()), 'nothing was compared', 15_000)
})
const metrics = async () => (await listening.fetch('/metrics')).text()

test('pages are read by to_block, and before the first checkpoint there is none', async () => {
  await start()
  await listening.idle()
  expect(await list()).toEqual({ object: 'list', data: [], has_more: false, next_after: null })
  await mineTo(45)
  await listening.idle()
  const first = await list('?limit=3')
  expect([first.data.map(one => one.to_block), first.has_more, first.next_after]).toEqual([[9, 19, 29], true, 29])
  const rest = await list(`?limit=3&after=${first.next_after}`)
  expect([rest.data.map(one => one.to_block), rest.has_more, rest.next_after]).toEqual([[39], false, 39])
  expect(await list('?after=39')).toEqual({ object: 'list', data: [], has_more: false, next_after: 39 })
})

test('the first one begins with the first block that is read, and what is far behind is caught up with', async () => {
  for (let round = 1; round <= 5; round++) {
    await chain.pay([{ memo: memoOf(round) }])
    await chain.mine(20)
  }
  await start({ env: { START_BLOCK: '13', REORG_WINDOW: '2' } })
  await listening.idle()
  const all = await checkpoints()
  expect(all.map(({ from_block, to_block }) => [from_block, to_block]).slice(0, 2)).toEqual([
    [13, 19],
    [20, 29],
  ])
  expect(all.length).toBe(9)
  await expectFromChain(all)
})

test('two replicas write each checkpoint once', async () => {
  await start()
  const second = await startListener({ rpcUrls: chain.anvil.rpcUrl, router: chain.emitter, env: ENV, databaseUrl: listening.databaseUrl })
  await chain.pay([{ memo: memoOf(1) }])
  await mineTo(25)
  await listening.idle()
  await listening.listener.stop()
  await mineTo(49)
  await second.until(async () => (await list('', second)).data.length === 5, 'the other replica does not go on', 20_000)
  const all = (await list('', second)).data
  await expectFromChain(all)
  await second.stop()
})

test('of two writes at once one counts, and one under a lease that is over changes nothing', async () => {
  // The listener itself writes none.
  await start({ env: { CHECKPOINT_BLOCKS: '1000000' } })
  await chain.pay([{ memo: memoOf(1) }])
  await mineTo(15)
  await listening.idle()
  const store = checkpointStore(listening.sql, 31_337)
  const routers = [chain.emitter.toLowerCase()]
  const next = await store.next(BLOCKS, routers)
  const epoch = BigInt((await listening.cursor())?.epoch)
  if (!next?.blockHash) throw new Error('no checkpoint is due')
  const of = { blockHash: next.blockHash, token: TOKEN.toLowerCase(), routers }
  await expect(store.write(epoch - 1n, next, of)).rejects.toThrow('another replica leads')
  expect(await listening.payments()).toMatchObject([{ checkpoint: null }])
  const both = await Promise.allSettled([store.write(epoch, next, of), store.write(epoch, next, of)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await checkpoints()).toHaveLength(1)
  await expectFromChain(await checkpoints())
})

test('a database that was put back writes the same checkpoints again', async () => {
  await start()
  for (let round = 1; round <= 4; round++) {
    await chain.pay([{ memo: memoOf(round) }])
    await chain.mine(9)
  }
  await mineTo(40)
  await listening.idle()
  const before = await checkpoints()
  await listening.stop()
  const own = await testDatabase(chainListenerMigrations)
  await start({ databaseUrl: own.url })
  await listening.idle()
  expect(await checkpoints()).toEqual(before)
  await listening.stop()
  listening.stop = own.drop
})

test('a payment that is found late stands in the next checkpoint, and the earlier ones stay', async () => {
  // The reconciler looks at the start, and would find it by itself.
  await start({ env: { RECONCILE_EVERY_S: '3600' } })
  await chain.pay([{ memo: memoOf(1) }])
  await mineTo(11)
  await listening.idle()
  const [first] = await checkpoints()
  // As if no node had shown it when the block was read.
  const [row] = (await listening.sql.query('DELETE FROM payments WHERE memo = $1 RETURNING block_number::int AS block', [memoOf(1)])).rows
  await listening.sql.query('DELETE FROM checkpoints')
  await listening.until(async () => (await checkpoints()).length === 1, 'it is not written again', 15_000)
  const [without] = await checkpoints()
  expect(without).toMatchObject({ payments: 0, late: [] })
  expect(without?.hash).not.toBe(first?.hash)
  await fetch(`http://127.0.0.1:${listening.listener.ops.port()}/rescan?from_block=0&to_block=9`, { method: 'POST' })
  await listening.idle()
  expect(await listening.payments()).toMatchObject([{ state: 'confirmed', checkpoint: null }])
  await mineTo(21)
  await listening.idle()
  const [same, next] = await checkpoints()
  expect(same).toEqual(without)
  const [log] = await logs(row?.block, row?.block)
  expect(next).toMatchObject({
    payments: 0,
    late: [{ memo: memoOf(1), block_number: row?.block, merchant_share: '0.990000', fee: '0.010000' }],
  })
  expect(next && log && hashOf(next, [`late ${lineOf(log)}`])).toBe(next?.hash)
  await mineTo(31)
  await listening.idle()
  expect((await checkpoints()).at(-1)).toMatchObject({ payments: 0, late: [], previous_hash: next?.hash })
})

test('a router that is added later has its earlier payments listed as late', async () => {
  const other = await chain.deploy()
  await chain.pay([{ memo: memoOf(7) }], 1, other)
  await start()
  await mineTo(11)
  await listening.idle()
  const own = listening.databaseUrl
  expect((await checkpoints())[0]).toMatchObject({ payments: 0 })
  await listening.listener.stop()
  const both = `${chain.emitter},${other}`
  const second = await startListener({ rpcUrls: chain.anvil.rpcUrl, router: both, env: ENV, databaseUrl: own })
  await second.idle()
  await mineTo(21)
  await second.idle()
  const [, next] = (await list('', second)).data
  expect(next?.router_addresses.map(one => one.toLowerCase())).toEqual([chain.emitter, other].sort())
  expect(next).toMatchObject({ payments: 0, late: [{ memo: memoOf(7) }] })
  await second.stop()
})

test('what a deep reorganisation takes away is stated by the next checkpoint, and the earlier ones stay', async () => {
  await start()
  await mineTo(8)
  await chain.pay([{ memo: memoOf(1) }])
  await mineTo(12)
  await listening.idle()
  const [first] = await checkpoints()
  expect(first).toMatchObject({ payments: 1 })
  const [log] = await logs(9, 9)
  await chain.rollback(5)
  await chain.rpc('anvil_dropAllTransactions')
  await chain.mine(20)
  await listening.idle()
  const [same, next] = await checkpoints()
  expect(same).toEqual(first)
  expect(next).toMatchObject({ payments: 0, late: [], gone: [{ memo: memoOf(1), block_number: 9 }], previous_hash: first?.hash })
  expect(next && log && hashOf(next, [`gone ${lineOf(log)}`])).toBe(next?.hash)
  await listening.until(async () => (await misfits()).length === 0, 'it seems not to fit', 15_000)
})

describe('what is changed silently is named by the auditor', () => {
  const cases: [what: string, change: string][] = [
    ['a payment that is lost', 'DELETE FROM payments WHERE block_number < 10'],
    ['a payment of another amount', 'UPDATE payments SET amount = amount + 1 WHERE block_number < 10'],
    ['a payment of another merchant', `UPDATE payments SET merchant = '0x${'cc'.repeat(20)}' WHERE block_number < 10`],
    [
      'a payment that is put into a checkpoint',
      `INSERT INTO payments (chain_id, tx_hash, kind, state, router, memo, merchant, payer, amount, fee, block_number, block_hash, block_time, log_index, checkpoint)
       SELECT chain_id, tx_hash, kind, state, router, memo, merchant, payer, amount, fee, block_number, block_hash, block_time, 99, checkpoint FROM payments WHERE block_number < 10`,
    ],
    ['a checkpoint of another hash', "UPDATE checkpoints SET hash = replace(hash, left(hash, 4), '0x00') WHERE to_block = 9"],
    ['a checkpoint of another count', 'UPDATE checkpoints SET payments = 2 WHERE to_block = 9'],
    ['a checkpoint that is gone', 'DELETE FROM checkpoints WHERE to_block = 9'],
  ]
  test.each(cases)('%s', async (_what, change) => {
    await start({ env: { RECONCILE_EVERY_S: '1' } })
    await chain.pay([{ memo: memoOf(1) }])
    await mineTo(21)
    await listening.idle()
    await listening.until(async () => /^ponte_reconcile_differences\{[^}]*\} 0$/m.test(await metrics()), 'nothing was compared', 15_000)
    expect(await misfits()).toEqual([])
    await listening.sql.query(change)
    await listening.until(async () => (await misfits()).length > 0, 'it is not named', 15_000)
    expect(await metrics()).toMatch(/^ponte_reconcile_differences\{[^}]*\} [1-9]/m)
  })
})
