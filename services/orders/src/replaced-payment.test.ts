import { type Payment, settle, type Terms } from './settlement'

const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 12, 0, second))
const terms: Terms = {
  expectedUnits: 100n,
  expiresAt: at(30),
  cancelledAt: null,
  supersededAt: null,
  paidAt: null,
  expiredAt: null,
  toldUnits: 0n,
}
const payment = (more: Partial<Payment> & { id: string }): Payment => ({
  ...{ revision: 1, status: 'detected', shareUnits: 100n, payerAddress: '0x', txHash: more.id, blockNumber: 1n, blockTime: at(20) },
  ...more,
})
const deposit = payment({ id: 'deposit' })

describe('a deposit and its sweep', () => {
  it('is confirming while the transfer waits to be swept, however late it gets', () => {
    expect(settle(terms, [deposit], at(500))).toMatchObject({ status: 'confirming', receivedUnits: 0n })
  })

  it('is paid once, in time, by a sweep that came late, whichever is known first', () => {
    const sweep = payment({ id: 'sweep', status: 'confirmed', blockNumber: 9n, replaces: ['deposit'] })
    for (const ledger of [[deposit, sweep], [sweep, deposit], [sweep]])
      expect(settle(terms, ledger, at(500))).toMatchObject({ status: 'paid', exception: null, receivedUnits: 100n, settled: true })
  })

  it('counts the transfer again when its sweep is orphaned', () => {
    const sweep = payment({ id: 'sweep', status: 'orphaned', revision: 2, replaces: ['deposit'] })
    expect(settle(terms, [deposit, sweep], at(20))).toMatchObject({ status: 'confirming', receivedUnits: 0n })
  })

  it('leaves a short one underpaid after the sweep, and not confirming by counting both', () => {
    const short = payment({ id: 'short', shareUnits: 60n })
    const sweep = payment({ id: 'sweep', status: 'confirmed', shareUnits: 60n, replaces: ['short'] })
    expect(settle(terms, [short, sweep], at(20))).toMatchObject({ status: 'underpaid', receivedUnits: 60n })
  })
})
