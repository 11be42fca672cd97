import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ChainView, checkpointHash, checkpointLine, firstMisfit, overdueMisfit, ZERO_HASH } from './checkpoint'
import type { RouterLog } from './logs'

type Listed = Parameters<typeof firstMisfit>[0][number]

const address = (byte: string) => `0x${byte.repeat(20)}`
const hash = (byte: string) => `0x${byte.repeat(32)}`
const log = (blockNumber: number, change: Partial<RouterLog> = {}): RouterLog => ({
  ...{
    blockNumber,
    blockHash: hash(String(blockNumber % 100).padStart(2, '0')),
    txHash: hash('7a'),
    logIndex: 0,
    router: address('bb'),
    memo: 'a3'.repeat(32),
  },
  ...{ merchant: address('aa'), payer: address('dd'), share: 27_398_525n, fee: 276_752n, ...change },
})
const body = (one: RouterLog): Listed['late'][number] => ({
  ...{ block_number: one.blockNumber, block_hash: one.blockHash, tx_hash: one.txHash, log_index: one.logIndex, router_address: one.router },
  ...{ memo: one.memo, merchant_address: one.merchant, payer_address: one.payer, merchant_share: '27.398525', fee: '0.276752' },
})
/** With the hash that an honest service gives it. */
function made(from: number, payments: RouterLog[], previous: string, more: Partial<Pick<Listed, 'late' | 'gone'>> = {}): Listed {
  const one = {
    ...{ object: 'checkpoint' as const, chain_id: 8453, token_address: address('cc'), router_addresses: [address('bb')] },
    ...{
      from_block: from,
      to_block: from + 999,
      block_hash: hash('e1'),
      payments: payments.length,
      late: [],
      gone: [],
      previous_hash: previous,
    },
    ...more,
  }
  return { ...one, hash: checkpointHash(one, payments) }
}
const viewOf = (logs: RouterLog[], change: Partial<ChainView> = {}): ChainView => ({
  ...{ chainId: 8453, token: address('cc'), routers: [address('bb')], to: 9_999, logs },
  ...{ hashes: new Map([999, 1_999, 2_999].map(number => [number, hash('e1')])), ...change },
})

test('the example of docs/chain.md is this hash', () => {
  const first = made(0, [log(7)], ZERO_HASH)
  const page = readFileSync(join(__dirname, '../../../../docs/chain.md'), 'utf8')
  expect(page).toContain(checkpointLine('payment', log(7)))
  expect(page).toContain(first.hash)
})

const [one, two, three] = [log(7), log(1_003), log(2_011, { logIndex: 4 })]
const first = made(0, [one], ZERO_HASH)
const second = made(1_000, [two], first.hash)
const third = made(2_000, [three], second.hash)

test('what the node bears out fits, and what lies above its last block is not judged', () => {
  expect(firstMisfit([first, second, third], viewOf([one, two, three]))).toBeNull()
  expect(firstMisfit([], viewOf([]))).toBeNull()
  expect(firstMisfit([first, second, third], viewOf([one], { to: 1_500 }))).toBeNull()
})

test.each<[string, Listed[], RouterLog[], number]>([
  ['a log that the checkpoint lacks', [first, made(1_000, [], first.hash)], [one, two], 1_999],
  ['a log that the node lacks', [first, second], [one], 1_999],
  ['another amount', [first, second], [one, { ...two, share: 1n }], 1_999],
  ['another order of logs', [made(0, [log(8), log(7)], ZERO_HASH)], [log(7), log(8)], 999],
  ['a checkpoint that is left out', [first, third], [one, two, three], 2_999],
  ['a chain of hashes that begins in the midst', [second], [one, two], 1_999],
  ['a hash before it that is another', [first, made(1_000, [two], hash('00'))], [one, two], 1_999],
  ['another block', [{ ...first, block_hash: hash('e2') }], [one], 999],
  ['another chain', [{ ...first, chain_id: 1 }], [one], 999],
  ['another token', [{ ...first, token_address: address('ce') }], [one], 999],
  ['a router that is left out', [made(0, [], ZERO_HASH)].map(each => ({ ...each, router_addresses: [] })), [], 999],
])('%s is named', (_, checkpoints, logs, block) => {
  expect(firstMisfit(checkpoints, viewOf(logs))).toMatchObject({ to_block: block })
})

test('a log that is listed late is left out of its own blocks, and must be on the node as it is listed', () => {
  const without = made(0, [], ZERO_HASH)
  const late = made(1_000, [two], without.hash, { late: [body(one)] })
  expect(firstMisfit([without, late], viewOf([one, two]))).toBeNull()
  expect(firstMisfit([without, late], viewOf([two]))).toMatchObject({ to_block: 1_999, detail: expect.stringContaining('as late') })
  expect(firstMisfit([without, late], viewOf([{ ...one, fee: 1n }, two]))).toMatchObject({ to_block: 1_999 })
})

test('a log that is listed as gone stays in its checkpoint, and must not be on the node', () => {
  const gone = made(1_000, [two], first.hash, { gone: [body(one)] })
  expect(firstMisfit([first, gone], viewOf([two]))).toBeNull()
  expect(firstMisfit([first, gone], viewOf([one, two]))).toMatchObject({ detail: expect.stringContaining('gone') })
})

test('a router of the merchant that no checkpoint covers is named', () => {
  expect(firstMisfit([first], viewOf([one], { routers: [address('bb'), address('be')] }))).toMatchObject({
    detail: expect.stringContaining(address('be')),
  })
})

test('a service that shows no checkpoint of blocks long confirmed is named, and one that is about to write it is not', () => {
  expect(overdueMisfit(third, { from: 0, to: 4_999 })).toBeNull()
  expect(overdueMisfit(third, { from: 0, to: 5_000 })).toMatchObject({ to_block: 2_999 })
  expect(overdueMisfit(undefined, { from: 40_000, to: 42_000 })).toBeNull()
  expect(overdueMisfit(undefined, { from: 40_000, to: 42_001 })).toMatchObject({ to_block: 40_000 })
})
