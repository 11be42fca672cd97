import { parseEvent } from '@ponte/contracts'
import { getAddress } from 'ethers'
import fc from 'fast-check'
import { toEvents } from './events'
import { assignRevisions, include, merge, orphan, type TimedPayment } from './payment'

const naming = { chainId: 8453, token: `0x${'04'.repeat(20)}`, checksum: getAddress }
const inEnvelope = (event: object) =>
  parseEvent({ id: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90', occurred_at: '2026-11-20T12:00:00.000Z', trace: null, ...event })

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
    deposit: address,
    amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    blockNumber: number,
    logIndex: number,
    txHash: word.map(text => `0x${text}`),
    blockHash: word.map(text => `0x${text}`),
    blockTime: fc.integer({ min: 0, max: 2 ** 32 }),
  })
  .map(one => ({ ...one, deposit: one.kind === 'router' ? null : one.deposit }))

describe('the events', () => {
  it('of anything on the chain satisfy the contract, so that they need not be checked one by one', () => {
    fc.assert(
      fc.property(seen, fc.boolean(), (one, isDeep) => {
        const included = include([one], [], () => isDeep)
        const change = merge(included, orphan(included.payments))
        assignRevisions(change, 0)
        for (const event of toEvents(change, naming, 0)) inEnvelope(event)
      }),
      { numRuns: 200 },
    )
  })

  it('are numbered without a gap, and what states that an address is read comes after its payments', () => {
    const [one] = fc.sample(seen, { numRuns: 1, seed: 3 })
    if (!one) throw new Error('no sample')
    const change = include([{ ...one, kind: 'transfer', deposit: one.merchant }], [], () => true)
    assignRevisions(change, 41)
    const orders = Array.from({ length: 1_001 }, (_, index) => `01981f3c-7b1e-7cc3-9d0e-${index.toString(16).padStart(12, '0')}`)
    const { memo, merchant } = one
    const blocked = [{ orderId: orders[0] ?? '', memo, merchant, address: one.payer, reason: 'token_paused' as const, revision: 1 }]
    const events = toEvents({ facts: change.facts, synced: orders, blocked }, naming, 41).map(inEnvelope)
    expect(events.map(({ type, data }) => [type, Reflect.get(data, 'sequence')])).toEqual([
      ['payment.confirmed', 42],
      ['deposit.synced', 43],
      ['deposit.synced', 44],
      ['deposit.blocked', 45],
    ])
    expect(events[0]?.data).toMatchObject({ kind: 'transfer', deposit_address: getAddress(merchant), payer_address: getAddress(one.payer) })
  })
})
