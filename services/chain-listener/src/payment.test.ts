import { parseEvent } from '@ponte/contracts'
import { getAddress } from 'ethers'
import fc from 'fast-check'
import { ContradictionError, confirm, include, orphan, type Payment, type TimedPayment, toEvents } from './payment'

const TX = `0x${'a1'.repeat(32)}`
const seen = (fields: Partial<TimedPayment> = {}): TimedPayment => ({
  router: `0x${'01'.repeat(20)}`,
  memo: 'c0'.repeat(32),
  merchant: `0x${'02'.repeat(20)}`,
  payer: `0x${'03'.repeat(20)}`,
  share: 99n,
  fee: 1n,
  deposit: null,
  txHash: TX,
  logIndex: 4,
  blockNumber: 10,
  blockHash: `0x${'b1'.repeat(32)}`,
  blockTime: 1_700_000_000,
  ...fields,
})
const telling = { chainId: 8453, token: `0x${'04'.repeat(20)}`, sequence: 0, checksum: (address: string) => address, transfers: [] }
const live = () => false
const deep = () => true
const first = (payments: readonly Payment[]) => {
  const [payment] = payments
  if (!payment) throw new Error('no payment')
  return payment
}

describe('a payment seen for the first time', () => {
  it('is detected, with ordinals by its place in the transaction', () => {
    const { payments, facts } = include([seen({ logIndex: 9, memo: 'c1'.repeat(32) }), seen({ logIndex: 4 })], [], live)
    expect(payments.map(({ ordinal, logIndex, state, revision }) => ({ ordinal, logIndex, state, revision }))).toEqual([
      { ordinal: 0, logIndex: 4, state: 'detected', revision: 1 },
      { ordinal: 1, logIndex: 9, state: 'detected', revision: 1 },
    ])
    expect(facts.map(fact => fact.type)).toEqual(['payment.detected', 'payment.detected'])
  })

  it('is only confirmed when it is deep enough already', () => {
    const { payments, facts } = include([seen()], [], deep)
    expect(facts.map(({ type, payment }) => [type, payment.revision])).toEqual([['payment.confirmed', 1]])
    expect(first(payments)).toMatchObject({ state: 'confirmed', revision: 1 })
  })
})

describe('a payment we know', () => {
  const detected = first(include([seen()], [], live).payments)
  const orphaned = first(orphan([detected]).payments)

  it('is confirmed once', () => {
    const { payments, facts } = confirm([detected])
    expect(facts.map(({ type, payment }) => [type, payment.revision])).toEqual([['payment.confirmed', 2]])
    expect(confirm(payments).facts).toEqual([])
    expect(confirm([orphaned]).facts).toEqual([])
  })

  it('is orphaned once, confirmed or not', () => {
    expect(orphaned).toMatchObject({ state: 'orphaned', revision: 2 })
    expect(orphan([orphaned]).facts).toEqual([])
    expect(orphan(confirm([detected]).payments).facts.map(({ type, payment }) => [type, payment.revision])).toEqual([
      ['payment.orphaned', 3],
    ])
  })

  it('keeps its identity in another block, at another log index and behind another neighbour', () => {
    const again = seen({ blockHash: `0x${'b2'.repeat(32)}`, blockNumber: 12, logIndex: 0 })
    expect(first(include([again], [orphaned], live).payments)).toMatchObject({
      ordinal: 0,
      revision: 3,
      blockNumber: 12,
      state: 'detected',
    })
  })

  it('never changes its terms: what the transaction pays instead gets a new ordinal', () => {
    const other = seen({ blockHash: `0x${'b2'.repeat(32)}`, memo: 'dd'.repeat(32) })
    const back = seen({ blockHash: `0x${'b2'.repeat(32)}`, logIndex: 7 })
    expect(include([other, back], [orphaned], live).payments.map(({ ordinal, memo, revision }) => ({ ordinal, memo, revision }))).toEqual([
      { ordinal: 1, memo: 'dd'.repeat(32), revision: 1 },
      { ordinal: 0, memo: 'c0'.repeat(32), revision: 3 },
    ])
  })

  it('is not told again when it is read again, and is not believed in two blocks', () => {
    expect(include([seen()], [detected], live)).toEqual({ payments: [], facts: [] })
    expect(() => include([seen({ blockHash: `0x${'b2'.repeat(32)}` })], [detected], live)).toThrow(ContradictionError)
  })

  it('twin payments of one transaction keep an identity each', () => {
    const twins = include([seen({ logIndex: 1 }), seen({ logIndex: 2 })], [], live).payments
    const gone = orphan(twins).payments
    const back = include(
      [seen({ logIndex: 5, blockHash: `0x${'b2'.repeat(32)}` }), seen({ logIndex: 6, blockHash: `0x${'b2'.repeat(32)}` })],
      gone,
      live,
    )
    expect(back.payments.map(payment => payment.ordinal)).toEqual([0, 1])
  })
})

describe('the events', () => {
  it('of any payment satisfy the contract, so that they need not be checked one by one', () => {
    const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytes => Buffer.from(bytes).toString('hex'))
    const address = word.map(text => `0x${text.slice(24)}`)
    const units = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
    const number = fc.integer({ min: 0, max: 2 ** 40 })
    const fields = fc.record({
      ...{
        memo: word,
        merchant: address,
        payer: address,
        router: address,
        share: units,
        fee: units,
        deposit: fc.option(address),
        blockNumber: number,
        logIndex: number,
      },
      ...{
        txHash: word.map(text => `0x${text}`),
        blockHash: word.map(text => `0x${text}`),
        blockTime: fc.integer({ min: 0, max: 2 ** 32 }),
      },
    })
    fc.assert(
      fc.property(fields, fc.boolean(), (payment, isDeep) => {
        const { facts } = include([payment], [], () => isDeep)
        const chain = { chainId: 8453, token: payment.router, sequence: 0, checksum: getAddress, transfers: [] }
        for (const event of toEvents(facts, chain))
          parseEvent({ id: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90', occurred_at: '2026-11-20T12:00:00.000Z', trace: null, ...event })
      }),
      { numRuns: 200 },
    )
  })

  it('satisfy the contract and are numbered without a gap', () => {
    const detected = include([seen()], [], live)
    const events = toEvents([...detected.facts, ...confirm(detected.payments).facts], { ...telling, sequence: 41 })
    const parsed = events.map(event =>
      parseEvent({ id: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90', occurred_at: '2026-11-20T12:00:00.000Z', trace: null, ...event }),
    )
    expect(parsed.map(event => event.data)).toMatchObject([
      { payment_id: `8453:${TX}:0`, sequence: 42, revision: 1, merchant_share: '0.000099', block_time: '2023-11-14T22:13:20.000Z' },
      { payment_id: `8453:${TX}:0`, sequence: 43, revision: 2 },
    ])
  })
})

describe('a transfer to a deposit address', () => {
  const address = `0x${'0d'.repeat(20)}`
  const transfer = seen({ deposit: address })
  const sweep = seen({ payer: address, txHash: `0x${'a2'.repeat(32)}`, blockNumber: 12 })

  it('is told as detected and never as confirmed', () => {
    const { payments, facts } = include([transfer], [], deep)
    expect(facts.map(({ type, payment }) => [type, payment.revision])).toEqual([['payment.detected', 1]])
    expect(first(payments).state).toBe('confirmed')
    const detected = first(include([transfer], [], live).payments)
    expect(confirm([detected])).toMatchObject({ facts: [], payments: [{ state: 'confirmed', revision: 1 }] })
  })

  it('is told as orphaned although it had been confirmed, and as detected when it comes back', () => {
    const confirmed = first(include([transfer], [], deep).payments)
    const orphaned = orphan([confirmed])
    expect(orphaned.facts.map(({ type, payment }) => [type, payment.revision])).toEqual([['payment.orphaned', 2]])
    const back = include([{ ...transfer, blockNumber: 14, logIndex: 7 }], orphaned.payments, live)
    expect(back.facts.map(({ type, payment }) => [type, payment.revision, payment.ordinal])).toEqual([['payment.detected', 3, 0]])
  })

  it('is what its sweep stands for; those that came later, vanished, or went elsewhere are not', () => {
    const known = (fields: Partial<Payment>) => ({ ...first(include([transfer], [], live).payments), ...fields })
    const transfers = [
      known({ blockTime: 1_700_000_123 }),
      known({ ordinal: 1, state: 'orphaned' }),
      known({ ordinal: 2, blockNumber: 12, logIndex: 5 }),
      known({ ordinal: 3, deposit: `0x${'0e'.repeat(20)}` }),
    ]
    const { facts } = include([sweep], [], live)
    const [event] = toEvents(facts, { ...telling, transfers })
    expect(event?.data).toMatchObject({ replaces: [`8453:${TX}:0`], sent_time: '2023-11-14T22:15:23.000Z' })
  })
})
