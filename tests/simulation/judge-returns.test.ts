import {
  type Asked,
  expectedReturn,
  mayMove,
  noticeDifferences,
  orderDifferences,
  returnDifferences,
  returned,
  walletDifferences,
} from './judge-returns'

// The judge is held against cases worked out by hand.

const [WALLET, PAYEE, OWN] = ['0xaa', '0xbb', '0xcc']
const asked: Asked = {
  ...{ id: 'r', nonce: '0x01', from: WALLET, payee: PAYEE, units: 60n, taken: [500], isSignedElsewhere: false, isCancelled: false },
}
const place = (block: number, logIndex: number) => ({ txHash: `0xt${block}`, block, logIndex, time: block * 100 })
const funded = { ...place(1, 0), from: '0xdd', to: WALLET, amount: 100n }
const use = { ...place(3, 0), kind: 'used' as const, authorizer: WALLET, nonce: asked.nonce }
const moved = { ...place(3, 1), from: WALLET, to: PAYEE, amount: 60n }
const at = (block: number) => ({ block, time: block * 100 })
const [before, after, cancelled] = [
  { transfers: [funded], ends: [] },
  { transfers: [funded, moved], ends: [use] },
  { transfers: [funded], ends: [{ ...use, kind: 'cancelled' as const }] },
]

describe('the judge of returns', () => {
  it('follows a signature to its confirmed transfer, its end and its cancellation', () => {
    expect(expectedReturn({ ...asked, taken: [] }, before, at(2), true)).toMatchObject({ statuses: ['awaiting_signature'] })
    const living = { statuses: ['submitted'], validBefore: 500, txHash: null, failed: [0, 0] }
    expect(expectedReturn(asked, before, at(4), true)).toEqual(living)
    expect(expectedReturn(asked, after, at(2), true)).toEqual(living)
    expect(expectedReturn(asked, after, at(3), true)).toEqual({
      ...{ statuses: ['confirmed'], validBefore: null, txHash: '0xt3', failed: [0, 0] },
    })
    const failed = { statuses: ['awaiting_signature'], validBefore: null, txHash: null, failed: [1, 1] }
    expect([expectedReturn(asked, before, at(5), true), expectedReturn(asked, cancelled, at(3), true)]).toEqual([failed, failed])
    expect([at(4), at(5)].map(confirmed => mayMove(asked, before, confirmed))).toEqual([true, false])
    expect(expectedReturn(asked, { transfers: [], ends: [] }, at(4), true).statuses).toEqual(['awaiting_funds'])
  })

  it('waits for what was signed elsewhere until the end', () => {
    const elsewhere = { ...asked, taken: [], isSignedElsewhere: true, isCancelled: true }
    expect(expectedReturn(elsewhere, after, at(3), false).statuses).toEqual(['confirmed', 'cancelled'])
    expect(expectedReturn(elsewhere, after, at(3), true).statuses).toEqual(['confirmed'])
  })

  it.each([
    ['another payee', { ...moved, to: '0xee' }],
    ['another amount', { ...moved, amount: 59n }],
    ['another wallet', { ...moved, from: '0xee' }],
    ['another place', { ...moved, logIndex: 2 }],
  ])('a use before a transfer to %s is no return', (_, transfer) => {
    expect(expectedReturn(asked, { transfers: [funded, transfer], ends: [use] }, at(3), true).statuses).toEqual(['awaiting_signature'])
  })

  it('sees another state, hash and end', () => {
    const must = expectedReturn(asked, before, at(4), true)
    const seen = { status: 'submitted', txHash: null, validBefore: 500 }
    expect(returnDifferences(seen, must)).toEqual([])
    for (const change of [{ status: 'confirmed' }, { txHash: '0xt3' }, { validBefore: null }])
      expect(returnDifferences({ ...seen, ...change }, must)).not.toEqual([])
  })

  it('sees a notice too many and one that is missing', () => {
    const must = expectedReturn(asked, after, at(3), true)
    const types = ['refund.created', 'refund.confirmed']
    expect(noticeDifferences(types, must)).toEqual([])
    for (const wrong of [[], ['refund.created'], [...types, 'refund.failed'], [...types, 'refund.confirmed']])
      expect(noticeDifferences(wrong, must)).not.toEqual([])
  })

  it('sees what leaves the wallet for nothing, twice, or to another', () => {
    const seen = (...transfers: (typeof moved)[]) => walletDifferences([asked], { transfers, ends: [use] }, WALLET, OWN)
    expect(seen(moved, { ...moved, ...place(4, 0), to: OWN })).toEqual([])
    for (const wrong of [[{ ...moved, to: '0xee' }], [moved, moved], [{ ...moved, ...place(4, 0) }], [{ ...moved, amount: 61n }]])
      expect(seen(...wrong)).not.toEqual([])
  })

  it('returns no more than came, and counts what moved although it was cancelled', () => {
    const order = { came: 100n, leftOver: 70n, isClosed: true }
    const seen = { came: 100n, promised: 60n, returnable: 40n, surplus: 10n }
    const judged = (all: readonly Asked[], change = {}, chain: Parameters<typeof expectedReturn>[1] = before) =>
      orderDifferences({ ...seen, ...change }, all, order, asked => returned(asked, chain, 3) !== undefined)
    expect(judged([asked])).toEqual([])
    expect(judged([asked, { ...asked, isCancelled: true }])).toEqual([])
    expect(judged([{ ...asked, isCancelled: true }], {}, after)).toEqual([])
    expect(judged([asked, asked], { promised: 120n, returnable: 0n, surplus: 0n })).toEqual(['120 go back, and 100 came'])
    for (const change of [{ came: 99n }, { promised: 0n }, { returnable: 41n }, { surplus: 0n }])
      expect(judged([asked], change)).not.toEqual([])
  })
})
