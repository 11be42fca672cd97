import { assignRevisions, ContradictionError, confirm, include, merge, orphan, type Payment, type TimedPayment } from './payment'

const TX = `0x${'a1'.repeat(32)}`
const seen = (fields: Partial<TimedPayment> = {}): TimedPayment => ({
  kind: 'router',
  router: `0x${'01'.repeat(20)}`,
  memo: 'c0'.repeat(32),
  merchant: `0x${'02'.repeat(20)}`,
  payer: `0x${'03'.repeat(20)}`,
  amount: 100n,
  deposit: null,
  txHash: TX,
  logIndex: 4,
  blockNumber: 10,
  blockHash: `0x${'b1'.repeat(32)}`,
  blockTime: 1_700_000_000,
  ...fields,
})
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
    expect(payments.map(({ ordinal, logIndex, state }) => ({ ordinal, logIndex, state }))).toEqual([
      { ordinal: 0, logIndex: 4, state: 'detected' },
      { ordinal: 1, logIndex: 9, state: 'detected' },
    ])
    expect(facts.map(fact => fact.type)).toEqual(['payment.detected', 'payment.detected'])
  })

  it('is only confirmed when it is deep enough already', () => {
    const { payments, facts } = include([seen()], [], deep)
    expect(facts.map(({ type }) => type)).toEqual(['payment.confirmed'])
    expect(first(payments)).toMatchObject({ state: 'confirmed' })
  })
})

describe('a payment we know', () => {
  const detected = first(include([seen()], [], live).payments)
  const orphaned = first(orphan([detected]).payments)

  it('is confirmed once', () => {
    const { payments, facts } = confirm([detected])
    expect(facts.map(({ type }) => type)).toEqual(['payment.confirmed'])
    expect(confirm(payments).facts).toEqual([])
    expect(confirm([orphaned]).facts).toEqual([])
  })

  it('is orphaned once, confirmed or not', () => {
    expect(orphaned).toMatchObject({ state: 'orphaned' })
    expect(orphan([orphaned]).facts).toEqual([])
    expect(orphan(confirm([detected]).payments).facts.map(({ type }) => type)).toEqual(['payment.orphaned'])
  })

  it('keeps its identity in another block, at another log index and behind another neighbour', () => {
    const again = seen({ blockHash: `0x${'b2'.repeat(32)}`, blockNumber: 12, logIndex: 0 })
    expect(first(include([again], [orphaned], live).payments)).toMatchObject({
      ordinal: 0,
      blockNumber: 12,
      state: 'detected',
    })
  })

  it('never changes its terms: what the transaction pays instead gets a new ordinal', () => {
    const other = seen({ blockHash: `0x${'b2'.repeat(32)}`, memo: 'dd'.repeat(32) })
    const back = seen({ blockHash: `0x${'b2'.repeat(32)}`, logIndex: 7 })
    expect(include([other, back], [orphaned], live).payments.map(({ ordinal, memo }) => ({ ordinal, memo }))).toEqual([
      { ordinal: 1, memo: 'dd'.repeat(32) },
      { ordinal: 0, memo: 'c0'.repeat(32) },
    ])
  })

  it('is not published again when it is read again, and is not believed in two blocks', () => {
    expect(include([seen()], [detected], live)).toEqual({ payments: [], facts: [] })
    expect(() => include([seen({ blockHash: `0x${'b2'.repeat(32)}` })], [detected], live)).toThrow(ContradictionError)
  })

  it('of an address that is read later is numbered behind those that are known, so that a database that is written anew may number them otherwise', () => {
    const [lower, upper] = [seen({ logIndex: 4, memo: 'c1'.repeat(32) }), seen({ logIndex: 9, memo: 'c2'.repeat(32) })]
    const known = include([upper], [], live).payments
    expect(include([lower], known, live).payments.map(({ ordinal, logIndex }) => [ordinal, logIndex])).toEqual([[1, 4]])
    expect(include([lower, upper], [], live).payments.map(({ ordinal, logIndex }) => [ordinal, logIndex])).toEqual([
      [0, 4],
      [1, 9],
    ])
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

it('each fact has the next number as the revision of its payment', () => {
  const waiting = include([seen()], [], live).payments
  const change = merge(confirm(waiting), include([seen({ txHash: `0x${'a2'.repeat(32)}` })], [], live))
  assignRevisions(change, 41)
  expect(change.facts.map(({ type, payment }) => [type, payment.revision])).toEqual([
    ['payment.confirmed', 42],
    ['payment.detected', 43],
  ])
  expect(change.payments.map(({ revision }) => revision)).toEqual([42, 43])
})

describe('a transfer to a deposit address', () => {
  const transfer = seen({ kind: 'transfer', deposit: `0x${'0d'.repeat(20)}` })

  it('goes through the same states as a router payment, each published', () => {
    const detected = include([transfer], [], live)
    const confirmed = confirm(detected.payments)
    const orphaned = orphan(confirmed.payments)
    const back = include([{ ...transfer, blockNumber: 14, logIndex: 7 }], orphaned.payments, deep)
    const facts = [detected, confirmed, orphaned, back].flatMap(change => change.facts)
    expect(facts.map(({ type, payment }) => [type, payment.ordinal])).toEqual([
      ['payment.detected', 0],
      ['payment.confirmed', 0],
      ['payment.orphaned', 0],
      ['payment.confirmed', 0],
    ])
  })
})

describe('a sweep', () => {
  const address = `0x${'0d'.repeat(20)}`
  const sweep = seen({ kind: 'sweep', payer: address, deposit: address })

  it('is published when it is confirmed, and not before', () => {
    const { payments, facts } = include([sweep], [], live)
    expect([facts, first(payments).state, first(payments).revision]).toEqual([[], 'detected', 0])
    expect(confirm(payments).facts.map(({ type }) => type)).toEqual(['sweep.confirmed'])
    expect(include([sweep], [], deep).facts.map(({ type }) => type)).toEqual(['sweep.confirmed'])
  })

  it('is published as orphaned only when it had been confirmed', () => {
    const detected = include([sweep], [], live).payments
    expect(orphan(detected)).toMatchObject({ facts: [], payments: [{ state: 'orphaned', revision: 0 }] })
    const gone = orphan(confirm(detected).payments)
    expect(gone.facts.map(({ type }) => type)).toEqual(['sweep.orphaned'])
    const back = include([{ ...sweep, blockNumber: 14 }], gone.payments, deep)
    expect(back.facts.map(({ type }) => type)).toEqual(['sweep.confirmed'])
  })

  it('in the transaction of a transfer has an identity beside it', () => {
    const { payments } = include([seen({ kind: 'transfer', deposit: address }), { ...sweep, logIndex: 6 }], [], live)
    expect(payments.map(({ kind, ordinal }) => [kind, ordinal])).toEqual([
      ['transfer', 0],
      ['sweep', 1],
    ])
  })
})
