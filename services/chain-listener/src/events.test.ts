import { type ChainBlocks, parseEvent } from '@ponte/contracts'
import { getAddress } from 'ethers'
import fc from 'fast-check'
import { type Publication, toEvents } from './events'
import { include, type TimedPayment } from './payment'

const naming = { chainId: 8453, token: `0x${'04'.repeat(20)}`, checksum: getAddress }
const ID = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
const statement = { generation: ID, lease: ID, version: 7, earlier: [{ lease: ID, version: 3 }], since: 0, head: 2 ** 40 }
const orderId = (n: number) => `01981f3c-7b1e-7cc3-9d0e-${n.toString(16).padStart(12, '0')}`
const check = (data: ChainBlocks) =>
  parseEvent({ id: ID, type: 'chain.blocks', occurred_at: '2026-11-20T12:00:00.000Z', trace: null, data })
const publish = (publication: Partial<Publication>, paymentsMax?: number) =>
  toEvents({ advanced: null, gone: [], stated: [], watched: [], ...publication }, naming, statement, paymentsMax)

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytes => Buffer.from(bytes).toString('hex'))
const address = word.map(text => `0x${text.slice(24)}`)
const number = fc.integer({ min: 0, max: 2 ** 40 })
const seen: fc.Arbitrary<TimedPayment> = fc
  .record({
    kind: fc.constantFrom('router' as const, 'transfer' as const, 'sweep' as const),
    memo: word,
    merchant: address,
    payer: address,
    router: address,
    fee: fc.option(fc.bigInt({ min: 0n, max: 2n ** 255n })),
    deposit: address,
    amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    blockNumber: number,
    logIndex: number,
    txHash: word.map(text => `0x${text}`),
    blockHash: word.map(text => `0x${text}`),
    blockTime: fc.integer({ min: 0, max: 2 ** 32 }),
  })
  .map(one => ({ ...one, deposit: one.kind === 'router' ? null : one.deposit }))
const [sample] = fc.sample(seen, { numRuns: 1, seed: 3 })
if (!sample) throw new Error('no sample')
const router = (blockNumber: number, logIndex: number): TimedPayment => ({
  ...sample,
  kind: 'router',
  fee: null,
  deposit: null,
  blockNumber,
  logIndex,
  blockTime: 1_000 + blockNumber,
})

describe('what a step publishes', () => {
  it('of anything on the chain satisfies the contract, so that events need not be checked one by one', () => {
    fc.assert(
      fc.property(fc.array(seen, { maxLength: 4 }), number, fc.boolean(), (some, line, isAdvancing) => {
        const stated = include(some, line)
        const advanced = isAdvancing ? { from: 0, to: line, time: 9 } : null
        const watched = [{ orderId: ID, through: 12, payments: stated }]
        for (const event of publish({ stated, advanced, gone: some.map(({ blockHash }) => blockHash), watched })) check(event)
      }),
      { numRuns: 200 },
    )
  })

  it('fault 6: a block is in one event, however many payments it has; ranges follow each other without a gap', () => {
    const blocks = [20, 900, 1, 299, 2, 300]
    const some = blocks.flatMap((count, index) => Array.from({ length: count }, (_, log) => router(10 + index * 10, log)))
    const events = publish({ stated: include(some, 100), advanced: { from: 5, to: 100, time: 2_000 } })
    expect(events.length).toBeGreaterThan(2)
    expect(events.flatMap(({ payments }) => payments)).toHaveLength(some.length)
    let next = 5
    for (const { advanced, payments } of events) {
      expect(advanced?.from).toBe(next)
      for (const { block_number } of payments) expect(block_number >= next && block_number <= (advanced?.to ?? -1)).toBe(true)
      next = (advanced?.to ?? 0) + 1
    }
    expect(events.at(-1)?.advanced).toEqual({ from: expect.any(Number), to: 100, time: new Date(2_000_000).toISOString() })
    const eventsOf = (block: number) => events.filter(({ payments }) => payments.some(({ block_number }) => block_number === block)).length
    for (const [index] of blocks.entries()) expect(eventsOf(10 + index * 10)).toBe(1)
  })

  it('fault 6: an order is in one event with all its payments, 900 of them too', () => {
    const payments = include(
      Array.from({ length: 900 }, (_, index) => router(index, 0)),
      1_000,
    )
    const watched = [
      { orderId: orderId(1), through: 1_000, payments: [] },
      { orderId: orderId(2), through: 1_000, payments },
      { orderId: orderId(3), through: -1, payments: [] },
    ]
    const events = publish({ watched })
    const [about] = events.filter(event => event.watched.some(({ order_id }) => order_id === orderId(2)))
    expect(about?.payments).toHaveLength(900)
    expect(events.flatMap(event => event.watched)).toEqual(watched.map(one => ({ order_id: one.orderId, through: one.through })))
  })

  it('a block or an order that is larger than an event may be comes in parts, of which the last one makes the statement', () => {
    const some = [router(1, 0), ...Array.from({ length: 7 }, (_, log) => router(2, log)), router(3, 0)]
    const events = publish({ stated: include(some, 10), advanced: { from: 1, to: 10, time: 2_000 } }, 3)
    expect(events.map(({ payments, advanced, partsBefore }) => [payments.length, advanced?.to ?? null, partsBefore ?? 0])).toEqual([
      [3, null, 0],
      [3, null, 0],
      [3, 10, 2],
    ])
    const payments = include(
      Array.from({ length: 7 }, (_, index) => router(index, 0)),
      1_000,
    )
    const watched = [{ orderId: orderId(1), through: 1_000, payments }]
    expect(publish({ watched }, 3).map(event => [event.payments.length, event.watched.length, event.partsBefore ?? 0])).toEqual([
      [3, 0, 0],
      [3, 0, 0],
      [1, 1, 2],
    ])
    for (const event of [...events, ...publish({ watched }, 3)]) check(event)
  })

  it('names blocks that are gone once, and a sweep only when it is confirmed', () => {
    const stated = include(
      [
        { ...router(1, 0), kind: 'sweep', deposit: sample.payer },
        { ...router(9, 0), kind: 'sweep', deposit: sample.payer },
      ],
      5,
    )
    const events = publish({ stated, gone: [sample.blockHash], advanced: { from: 1, to: 5, time: 1 } })
    expect(events.flatMap(({ gone }) => gone)).toEqual([sample.blockHash])
    expect(events.flatMap(({ sweeps }) => sweeps.map(({ block_number }) => block_number))).toEqual([1])
  })
})
