import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { CheckpointListBody, EntryListBody, List, OrderBody, SummaryBody } from '@ponte/contracts'
import { mined, startHttpServer } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { call, MERCHANT, merchant, PAYER, pay, runSystem, system, units, world } from '../world'

const program = join(__dirname, '../../packages/cli/dist/main.js')
const folder = mkdtempSync(join(tmpdir(), 'ponte-audit-'))

type Tamper = (path: string, body: unknown) => unknown
const honest: Tamper = (_path, body) => body

/** A gateway in a thief's hands: answers of the API as the test changes them. */
async function startThief(target: string) {
  let tamper = honest
  const { url, stop } = await startHttpServer(async (req, res) => {
    const answer = await fetch(`${target}${req.url}`, { headers: { authorization: req.headers.authorization ?? '' } })
    const body: unknown = await answer.json()
    res.writeHead(answer.status, { 'content-type': 'application/json' })
    res.end(JSON.stringify(answer.ok ? tamper(req.url ?? '', body) : body))
  })
  return {
    ...{ url, stop },
    lie(next: Tamper) {
      tamper = next
    },
  }
}

/** Sent to the payout address, past router and deposit addresses. */
const DIRECT = 1_000_000n

let thief: Awaited<ReturnType<typeof startThief>>
const made: Record<'routed' | 'deposited' | 'open', OrderBody> = {} as never

afterAll(async () => {
  await thief?.stop()
  rmSync(folder, { recursive: true, force: true })
})
runSystem({ settings: { 'chain-listener': { CHECKPOINT_BLOCKS: '5' } } })
beforeAll(async () => {
  thief = await startThief(system.gatewayUrl)
  for (const kind of ['routed', 'deposited', 'open'] as const)
    made[kind] = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  const payer = world.chain.wallet(PAYER.privateKey)
  await pay(world.chain, made.routed)
  await pay(world.chain, { ...made.open, memo: 'ab'.repeat(32) })
  await mined(world.chain.mintUsdc(PAYER.address, 3n * units(made.deposited.usdc_amount)))
  await mined(world.chain.transferUsdc(payer, made.deposited.payment.deposit_address ?? '', units(made.deposited.usdc_amount)))
  await mined(world.chain.transferUsdc(payer, MERCHANT.address, DIRECT))
  const booked = async (wanted: Entry['kind']) => (await entries()).filter(({ kind }) => kind === wanted).length
  await until(async () => (await booked('settled')) === 3 && (await booked('direct')) === 1, 'the deposit is not swept', 60_000)
  await system.idle()
}, 180_000)

const entries = async () => (await call<EntryListBody>(system.gatewayUrl, 'GET', '/api/v1/entries?limit=100', merchant.api_key)).data

async function run(args: string[], more: string[] = terms()) {
  const env = { PATH: process.env.PATH, PONTE_CONFIG_DIR: folder, PONTE_API_KEY: merchant.api_key, PONTE_URL: thief.url }
  const child = spawn(process.execPath, [program, ...args, ...more], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => (output.stdout += chunk))
  child.stderr.on('data', chunk => (output.stderr += chunk))
  const [code] = await once(child, 'close')
  return { code: code as number | null, ...output }
}
const terms = (change: Partial<Record<'rpc' | 'payout' | 'router' | 'token', string>> = {}) => {
  const {
    rpc = world.chain.rpcUrl,
    payout = MERCHANT.address,
    router = world.chain.routerAddress,
    token = world.chain.usdcAddress,
  } = change
  return ['--rpc', rpc, '--payout', payout, '--router', router, '--token', token, '--confirmations', '1']
}
const audit = (...args: string[]) => run(['audit', ...args])
const lying = async (tamper: Tamper, ...args: string[]) => {
  thief.lie(tamper)
  try {
    return await audit(...args)
  } finally {
    thief.lie(honest)
  }
}
type Entry = EntryListBody['data'][number]
/** Changes the list of entries in the server's answers, and numbers them anew. */
const ofEntries =
  (change: (all: Entry[]) => Entry[]): Tamper =>
  (path, body) => {
    if (!path.startsWith('/api/v1/entries')) return body
    const page = body as EntryListBody
    return { ...page, data: change(page.data).map((entry, index) => ({ ...entry, sequence: index + 1 })) }
  }
const ofOrders =
  (change: (order: OrderBody) => OrderBody): Tamper =>
  (path, body) =>
    path.startsWith('/api/v1/orders') ? { ...(body as List<OrderBody>), data: (body as List<OrderBody>).data.map(change) } : body
const ofCheckpoints =
  (change: (all: CheckpointListBody['data']) => CheckpointListBody['data']): Tamper =>
  (path, body) =>
    path.startsWith('/api/v1/chain/checkpoints')
      ? { ...(body as CheckpointListBody), data: change((body as CheckpointListBody).data) }
      : body

test('an honest server: the node and the ledger agree, also on a plain transfer to the payout address', async () => {
  const found = await audit('--checkpoints')
  expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('The node and the ledger agree.') })
  expect(found.stdout).not.toMatch(/DIFFERENCE|information/)
  expect(found.stdout).toMatch(/^\d+ checkpoints; the one of block \d+ is 0x[0-9a-f]{64}$/m)
  expect(found.stderr).toContain('Chain 31337, blocks 0 to ')
  const { stdout, code } = await run(['--json', 'audit'])
  const { sums, ...report } = JSON.parse(stdout)
  expect([code, report]).toMatchObject([0, { chain_id: 31337, differences: [], unchecked: 0, direct: [] }])
  expect(sums.node).toEqual(sums.ledger)
  const came = units(made.routed.usdc_amount) + units(made.open.usdc_amount) + units(made.deposited.usdc_amount)
  expect(units(sums.node.came)).toBe(came + DIRECT)
})

test('a plain transfer of a block before payout addresses were watched is information', async () => {
  const found = await lying(
    ofEntries(all => all.filter(({ kind }) => kind !== 'direct')),
    '--direct-from',
    '1000000',
  )
  expect(found).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^information {2}past the routers, not compared: 1.000000 USDC from /m),
  })
})

test('a plain transfer that the installation does not count any more is information, and one before it is missing', async () => {
  const direct = (await entries()).find(({ kind }) => kind === 'direct')
  const ended =
    (from_block: number): Tamper =>
    (path, body) =>
      path.startsWith('/api/v1/summary')
        ? { ...(body as SummaryBody), uncounted: [{ chain_id: 31337, address: MERCHANT.address, from_block }] }
        : ofEntries(all => all.filter(({ kind }) => kind !== 'direct'))(path, body)
  const found = await lying(ended(direct?.block_number ?? 0))
  expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('The node and the ledger agree on all that is counted.') })
  expect(found.stdout).toContain(
    `information  not counted by this installation from block ${direct?.block_number} on: 1.000000 USDC to ${MERCHANT.address}, in one transfer past the routers`,
  )
  expect(await lying(ended((direct?.block_number ?? 0) + 1))).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^DIFFERENCE {2}missing_in_ledger: /m),
  })
})

describe('a server in a thief’s hands is named:', () => {
  const isDeposit = ({ kind, address }: Entry) =>
    kind === 'payment' && address?.toLowerCase() === made.deposited.payment.deposit_address?.toLowerCase()
  const isRouted = ({ kind, order_id }: Entry) => kind === 'payment' && order_id === made.routed.id
  const spare = `0x${'5c'.repeat(32)}`
  test.each<[string, () => Tamper, string]>([
    ['an entry of a router payment is left out', () => ofEntries(all => all.filter(one => !isRouted(one))), 'other_amount'],
    [
      'all entries of a router payment are left out',
      () => ofEntries(all => all.filter(one => one.tx_hash !== all.find(isRouted)?.tx_hash)),
      'missing_in_ledger',
    ],
    [
      'a plain transfer to the payout address is left out',
      () => ofEntries(all => all.filter(({ kind }) => kind !== 'direct')),
      'missing_in_ledger',
    ],
    ['a transfer to a deposit address is left out', () => ofEntries(all => all.filter(one => !isDeposit(one))), 'missing_in_ledger'],
    [
      'a sweep is left out, with its fee',
      () => ofEntries(all => all.filter(one => one.order_id !== made.deposited.id || isDeposit(one))),
      'missing_in_ledger',
    ],
    [
      'a payment that came for no order is left out',
      () => ofEntries(all => all.filter(one => one.tx_hash !== all.find(({ kind }) => kind === 'unmatched')?.tx_hash)),
      'missing_in_ledger',
    ],
    ['a smaller amount', () => ofEntries(all => all.map(one => (isRouted(one) ? { ...one, amount: '1.000000' } : one))), 'other_amount'],
    ['a higher fee', () => ofEntries(all => all.map(one => (one.kind === 'fee' ? { ...one, amount: '9.000000' } : one))), 'other_amount'],
    ['an invented entry', () => ofEntries(all => [...all, { ...(all[0] as Entry), tx_hash: spare }]), 'not_on_chain'],
    [
      'an entry that is taken back although its log stands',
      () => ofEntries(all => [...all, ...all.filter(isDeposit).map(one => ({ ...one, amount: `-${one.amount}`, reverses: one.sequence }))]),
      'missing_in_ledger',
    ],
    ['another block', () => ofEntries(all => all.map(one => (isRouted(one) ? { ...one, block_number: 1 } : one))), 'other_block'],
    [
      'another payer, to whom a refund would go',
      () => ofEntries(all => all.map(one => (isDeposit(one) ? { ...one, payer_address: MERCHANT.address } : one))),
      'other_payer',
    ],
    [
      'another address of an entry',
      () => ofEntries(all => all.map(one => (isDeposit(one) ? { ...one, address: MERCHANT.address } : one))),
      'other_address',
    ],
    [
      'an invented return',
      () => ofEntries(all => [...all, { ...(all[0] as Entry), kind: 'returned', address: PAYER.address, tx_hash: spare }]),
      'not_on_chain',
    ],
    [
      'a plain transfer that the ledger claims to be another',
      () => ofEntries(all => [...all, { ...(all[0] as Entry), kind: 'direct', tx_hash: spare }]),
      'not_on_chain',
    ],
    [
      'a gap in the ledger',
      () => (path, body) =>
        path.startsWith('/api/v1/entries')
          ? { ...(body as EntryListBody), data: (body as EntryListBody).data.slice(0, -1).map((one, at) => ({ ...one, sequence: at + 2 })) }
          : body,
      'gap',
    ],
    [
      'another deposit address',
      () => ofOrders(one => ({ ...one, payment: { ...one.payment, deposit_address: PAYER.address } })),
      `other_address: order `,
    ],
    [
      'another payout address',
      () => ofOrders(one => ({ ...one, payment: { ...one.payment, merchant_address: PAYER.address } })),
      'none of yours',
    ],
  ])('%s', async (_what, tamper, named) => {
    const found = await lying(tamper())
    expect(found.stdout).toMatch(/^DIFFERENCE {2}/m)
    expect(found).toMatchObject({ code: 1, stdout: expect.stringContaining(named) })
    expect(found.stdout).not.toContain('agree')
  })

  test.each<[string, (all: CheckpointListBody['data']) => CheckpointListBody['data']]>([
    ['a checkpoint with another hash', all => all.map((one, index) => (index === 0 ? { ...one, hash: `0x${'00'.repeat(32)}` } : one))],
    ['a checkpoint with another count', all => all.map(one => ({ ...one, payments: one.payments + 1 }))],
    ['a checkpoint that is left out', all => all.toSpliced(1, 1)],
    ['a checkpoint of another block', all => all.map(one => ({ ...one, block_hash: `0x${'11'.repeat(32)}` }))],
    [
      'a late payment that the chain never had',
      all =>
        all.map(one => ({
          ...one,
          late: [
            {
              ...{ block_number: 1, block_hash: one.hash, tx_hash: one.hash, log_index: 0, router_address: world.chain.routerAddress },
              ...{ memo: 'cd'.repeat(32), merchant_address: MERCHANT.address, payer_address: PAYER.address },
              ...{ merchant_share: '1.000000', fee: '0.000000' },
            },
          ],
        })),
    ],
  ])('%s', async (_what, change) => {
    expect(await lying(ofCheckpoints(change), '--checkpoints')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^DIFFERENCE {2}checkpoint \d+: /m),
    })
    expect(await lying(ofCheckpoints(change))).toMatchObject({ code: 0 })
  })
})

test('nothing is compared, and the code is 2, where it was asked wrongly or the node is another', async () => {
  const misuse: [string[], string][] = [
    [[], 'required option'],
    [terms({ payout: '0x12' }), '--payout is 0x and 40 hex digits'],
    [terms({ rpc: 'ftp://node' }), '--rpc is the http(s) URL'],
    [terms({ rpc: 'http://127.0.0.1:1' }), 'The node does not answer'],
    [[...terms(), '--chain-id', '1'], 'The node is of chain 31337, and --chain-id is 1'],
    [[...terms(), '--from-block', '99999999'], 'is not final on the node yet'],
    [[...terms(), '--from-block', 'genesis'], '--from-block is a number'],
  ]
  for (const [args, text] of misuse)
    expect(await run(['audit'], args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(text) })
  const elsewhere = ofEntries(all => all.map(one => ({ ...one, chain_id: 8453 })))
  expect(await lying(elsewhere)).toMatchObject({ code: 2, stderr: expect.stringContaining('the ledger of chain 8453') })
  expect((await run(['audit', '--help'], [])).code).toBe(0)
})

test('a node that takes few blocks at once is asked for fewer', async () => {
  const questions: number[] = []
  const node = await startHttpServer(async (req, res) => {
    const body = await text(req)
    const { method, params } = JSON.parse(body)
    const blocks = method === 'eth_getLogs' ? Number(params[0].toBlock) - Number(params[0].fromBlock) + 1 : 0
    if (blocks > 0) questions.push(blocks)
    if (blocks > 3) return void res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32005, message: 'too many blocks' } }))
    const answer = await fetch(world.chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    res.end(await answer.text())
  })
  const found = await run(['audit', '--checkpoints'], terms({ rpc: node.url }))
  await node.stop()
  expect(found).toMatchObject({ code: 0 })
  expect(Math.max(...questions)).toBeGreaterThan(3)
})

test('the checkpoints are public: without a key, kept for half a minute by anyone', async () => {
  const answer = await fetch(`${system.gatewayUrl}/api/v1/chain/checkpoints?limit=2`)
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=30'])
  const { data } = (await answer.json()) as CheckpointListBody
  expect(data.map(({ from_block, to_block }) => [from_block, to_block])).toEqual([
    [0, 4],
    [5, 9],
  ])
  expect(answer.headers.get('ratelimit-limit')).not.toBeNull()
  expect((await fetch(`${system.gatewayUrl}/api/v1/chain/checkpoints?limit=0`)).status).toBe(400)
})
