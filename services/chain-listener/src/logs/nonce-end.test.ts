import { CANCELLED_TOPIC, endLog, toNonceEnd, USED_TOPIC } from './nonce-end'
import { TRANSFER_TOPIC, topicOf } from './transfer'

const TOKEN = `0x${'a1'.repeat(20)}`
const terms = { fromAddress: `0x${'b2'.repeat(20)}`, payee: `0x${'c3'.repeat(20)}`, units: 40_000_000n, nonce: `0x${'d4'.repeat(32)}` }
const log = (topics: readonly string[], index: number, change: object = {}) => ({
  ...{ address: TOKEN, topics, data: '0x', blockHash: `0x${'e5'.repeat(32)}`, blockNumber: '0x10', logIndex: `0x${index.toString(16)}` },
  ...{ transactionHash: `0x${'f6'.repeat(32)}`, ...change },
})
const used = log([USED_TOPIC, topicOf(terms.fromAddress), terms.nonce], 4)
const cancelled = log([CANCELLED_TOPIC, topicOf(terms.fromAddress), terms.nonce], 4)
const transfer = (change: object = {}, to = terms.payee) =>
  log([TRANSFER_TOPIC, topicOf(terms.fromAddress), topicOf(to)], 5, { data: `0x${terms.units.toString(16)}`, ...change })

it('is a transfer where the payee was paid right behind the use of the nonce', () => {
  expect(toNonceEnd(used, [transfer()], terms)).toMatchObject({
    kind: 'transferred',
    txHash: used.transactionHash,
    logIndex: 4,
    blockNumber: 16,
  })
})

it.each([
  ['was cancelled', cancelled, [transfer()]],
  ['moved nothing', used, []],
  ['paid another one', used, [transfer({}, terms.fromAddress)]],
  ['paid less', used, [transfer({ data: '0x1' })]],
  ['is of another transaction', used, [transfer({ transactionHash: `0x${'00'.repeat(32)}` })]],
  ['paid elsewhere in the transaction', used, [transfer({ logIndex: '0x6' })]],
  ['paid in another token', used, [transfer({ address: terms.payee })]],
])('is used up where it %s', (_, end, transfers) => {
  expect(toNonceEnd(end, transfers, terms).kind).toBe('cancelled')
})

it('is known by its own log of the token alone', () => {
  expect(endLog([used], terms, TOKEN)).toBe(used)
  for (const logs of [
    [],
    [used, cancelled],
    [log(used.topics, 4, { address: terms.payee })],
    [log([USED_TOPIC, topicOf(terms.payee), terms.nonce], 4)],
  ])
    expect(endLog(logs, terms, TOKEN)).toBeUndefined()
})
