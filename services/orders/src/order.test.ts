import { type NewEvent, splitFee } from '@ponte/contracts'
import { withPayment } from './arrival'
import { type Change, cancel, type Order, open, review } from './order'
import type { Payment } from './settlement'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000)
const EXPIRES = 1000
const E = 99n

const fresh = (subscriptionId: string | null = null): Order =>
  open(
    {
      id: '01981f3c-0000-7000-8000-000000000002',
      memo: 'ab'.repeat(32),
      terms: { merchant_id: '01981f3c-0000-7000-8000-000000000001', version: 3, display_name: 'Padaria', payout_address: '0x01' },
      subscriptionId,
      externalRef: 'INV-7',
      description: null,
      metadata: {},
      brlCentavos: 1n,
      expiresAt: at(EXPIRES),
    },
    { rateMicros: 100_000_000n, source: 'static', asOf: at(0), spreadBps: 0 },
    100n,
    { chainId: 1, tokenAddress: '0x02', routerAddress: '0x03', depositAddress: null },
    at(0),
  )

interface Fact {
  share?: bigint
  /** When it was paid. */
  second?: number
  /** The block that it is in; its time unless a deposit was swept later. */
  block?: number
  status?: Payment['status']
  revision?: number
}

/** An order to which things happen, and what was told about it. The block's number is its time. */
function story(order = fresh()) {
  let payments: Payment[] = []
  let chainTime: Date | null = null
  const told: NewEvent[] = []
  const take = (change: Change) => {
    told.push(...change.events)
    order = change.order
  }
  const self = {
    pays(id: string, { share = E, second = 500, block = second, status = 'confirmed', revision = 1 }: Fact = {}) {
      const payment: Payment = {
        ...{ id, revision, status, shareUnits: share, payerAddress: '0x09', txHash: `0x${id}` },
        ...{ blockNumber: BigInt(block), blockTime: at(second) },
      }
      payments = withPayment(payments, payment)
      take(review(order, payments, chainTime, at(5000)))
      return self
    },
    chainAt(second: number) {
      chainTime = at(second)
      take(review(order, payments, chainTime, at(6000)))
      return self
    },
    cancels() {
      const change = cancel(order, payments, at(400))
      if (change) take(change)
      return self
    },
    is: () => [order.status, order.exception],
    order: () => order,
    told: () => told.map(event => event.type),
    events: told,
  }
  return self
}

describe('the order table of design section 6', () => {
  it('– | create | pending | no webhook', () => {
    expect(story().is()).toEqual(['pending', null])
    expect([fresh().expectedUnits, fresh().feeUnits]).toEqual([E, 1n])
  })

  it('pending, underpaid | D ≥ E > C | confirming | –', () => {
    expect(story().pays('a', { status: 'detected' }).is()).toEqual(['confirming', null])
    const topped = story().pays('a', { share: 40n }).pays('b', { share: 59n, status: 'detected' })
    expect([topped.is(), topped.told()]).toEqual([['confirming', null], ['order.underpaid']])
  })

  it('pending | 0 < C < E and nothing unconfirmed | underpaid | order.underpaid with expected and received = C', () => {
    const short = story().pays('a', { share: 40n })
    expect([short.is(), short.told()]).toEqual([['underpaid', null], ['order.underpaid']])
    expect(short.events[0]?.data).toMatchObject({ order: { expected: '0.000099', received: '0.000040', tx_hash: '0xa' } })
  })

  it('pending | 0 < C < E and something unconfirmed | pending | – until it is confirmed', () => {
    const waiting = story().pays('b', { share: 10n, status: 'detected', second: 501 }).pays('a', { share: 40n })
    expect([waiting.is(), waiting.told()]).toEqual([['pending', null], []])
    waiting.pays('b', { share: 10n, second: 501, revision: 2 })
    expect([waiting.is(), waiting.told()]).toEqual([['underpaid', null], ['order.underpaid']])
    expect(waiting.events[0]?.data).toMatchObject({ order: { received: '0.000050' } })
  })

  it('underpaid | something unconfirmed, still short | underpaid without flicker | –', () => {
    const short = story().pays('a', { share: 40n }).pays('b', { share: 1n, status: 'detected' })
    expect([short.is(), short.told()]).toEqual([['underpaid', null], ['order.underpaid']])
    short.pays('b', { share: 1n, status: 'orphaned', revision: 2 })
    expect([short.is(), short.told()]).toEqual([['underpaid', null], ['order.underpaid']])
  })

  it('underpaid | C grew, still short | underpaid | order.underpaid again', () => {
    const short = story().pays('a', { share: 40n }).pays('b', { share: 10n })
    expect([short.is(), short.told()]).toEqual([
      ['underpaid', null],
      ['order.underpaid', 'order.underpaid'],
    ])
    expect(short.events[1]?.data).toMatchObject({ order: { received: '0.000050', tx_hash: '0xb' } })
  })

  it.each([
    ['pending', () => story()],
    ['confirming', () => story().pays('a', { status: 'detected' })],
    ['underpaid', () => story().pays('z', { share: 1n, second: 100 })],
  ])('%s | C ≥ E, the completing block on time | paid | order.paid', (_from, begun) => {
    const paid = begun().pays('a', { second: EXPIRES, revision: 2 })
    expect([paid.order().status, paid.told().filter(type => type === 'order.paid')]).toEqual(['paid', ['order.paid']])
    expect(paid.order()).toMatchObject({ txHash: '0xa', paidAt: at(5000) })
  })

  it('pending | C > E, on time | paid, overpaid | order.paid', () => {
    const paid = story().pays('a', { share: 150n })
    expect([paid.is(), paid.told()]).toEqual([['paid', 'overpaid'], ['order.paid']])
  })

  it('a subscription’s order is told as order.paid with its subscription_id, which becomes subscription.charged', () => {
    const paid = story(fresh('01981f3c-0000-7000-8000-000000000009')).pays('a')
    expect(paid.events[0]).toMatchObject({
      type: 'order.paid',
      data: { merchant_version: 3, order: { subscription_id: '01981f3c-0000-7000-8000-000000000009', external_ref: 'INV-7' } },
    })
  })

  it.each([
    [1n, 'overpaid'],
    [E - 1n, 'overpaid'],
    [E, 'duplicate'],
    [E + 1n, 'duplicate'],
  ] as const)('paid | another confirmed payment of %s | paid, %s | none', (share, exception) => {
    const again = story().pays('a').pays('b', { share, second: 2000 })
    expect([again.is(), again.told(), again.order().txHash]).toEqual([['paid', exception], ['order.paid'], '0xa'])
  })

  it.each([
    ['pending', () => story()],
    ['underpaid', () => story().pays('a', { share: 40n })],
  ])('%s | Tc > expires_at | expired | order.expired, once', (_from, begun) => {
    expect(begun().chainAt(EXPIRES).told()).not.toContain('order.expired')
    const gone = begun()
      .chainAt(EXPIRES + 1)
      .chainAt(EXPIRES + 2)
    expect([gone.is(), gone.told().filter(type => type === 'order.expired')]).toEqual([['expired', null], ['order.expired']])
  })

  it('confirming | Tc > expires_at | stays until confirmed or orphaned', () => {
    const begun = () => story().pays('a', { status: 'detected' }).chainAt(2000)
    expect([begun().is(), begun().told()]).toEqual([['confirming', null], []])
    expect(begun().pays('a', { revision: 2 }).told()).toEqual(['order.paid'])
    const gone = begun().pays('a', { revision: 2, status: 'orphaned' })
    expect([gone.is(), gone.told()]).toEqual([['expired', null], ['order.expired']])
  })

  it('expired | C ≥ E, paid in time and seen late | paid | order.paid', () => {
    const late = story().chainAt(2000).pays('a', { second: EXPIRES })
    expect([late.is(), late.told()]).toEqual([
      ['paid', null],
      ['order.expired', 'order.paid'],
    ])
  })

  it('expired | a deposit sent in time and swept after a late payment | paid | order.paid', () => {
    const late = story()
      .chainAt(2000)
      .pays('a', { second: EXPIRES + 1, block: 2001 })
      .pays('swept', { second: EXPIRES, block: 2002 })
    expect([late.is(), late.told(), late.order().txHash]).toEqual([['paid', 'duplicate'], ['order.expired', 'order.paid'], '0xswept'])
  })

  it('expired | C ≥ E with a late block | expired, paid_late | none', () => {
    const late = story()
      .chainAt(2000)
      .pays('a', { second: EXPIRES + 1 })
    expect([late.is(), late.told(), late.order().txHash]).toEqual([['expired', 'paid_late'], ['order.expired'], '0xa'])
  })

  it('expired | a late payment on its way | expired | nothing twice', () => {
    const late = story().chainAt(2000).pays('a', { second: 2001, status: 'detected' })
    expect([late.is(), late.told()]).toEqual([['expired', null], ['order.expired']])
    late.pays('a', { second: 2001, revision: 2 }).chainAt(3000)
    expect([late.is(), late.told()]).toEqual([['expired', 'paid_late'], ['order.expired']])
  })

  it('pending | C ≥ E late, Tc not there yet | confirming, then expired, paid_late | order.expired', () => {
    const late = story().pays('a', { second: EXPIRES + 1 })
    expect([late.is(), late.told()]).toEqual([['confirming', null], []])
    late.chainAt(EXPIRES + 1)
    expect([late.is(), late.told()]).toEqual([['expired', 'paid_late'], ['order.expired']])
  })

  it('pending | cancel | cancelled | order.cancelled', () => {
    const gone = story().cancels()
    expect([gone.is(), gone.told()]).toEqual([['cancelled', null], ['order.cancelled']])
    expect(gone.events[0]?.data).toMatchObject({ order: { external_ref: 'INV-7' } })
  })

  it.each([
    ['confirming', () => story().pays('a', { status: 'detected' })],
    ['underpaid', () => story().pays('a', { share: 40n })],
    ['pending with money on its way', () => story().pays('a', { share: 1n, status: 'detected' })],
  ])('%s | cancel | 409 order_has_payments', (_from, begun) => {
    expect(() => begun().cancels()).toThrow(expect.objectContaining({ code: 'order_has_payments' }))
  })

  it('cancelled | cancel | the same | none', () => {
    expect(story().cancels().cancels().told()).toEqual(['order.cancelled'])
  })

  it.each([
    ['paid', () => story().pays('a')],
    ['expired', () => story().chainAt(2000)],
  ])('%s | cancel | 409 invalid_state', (_from, begun) => {
    expect(() => begun().cancels()).toThrow(expect.objectContaining({ code: 'invalid_state' }))
  })

  it('cancelled | confirmed payment | cancelled, paid_after_cancel | none', () => {
    const gone = story().cancels().pays('a', { status: 'detected' })
    expect(gone.is()).toEqual(['cancelled', null])
    gone.pays('a', { revision: 2 }).chainAt(2000)
    expect([gone.is(), gone.told(), gone.order().receivedUnits]).toEqual([['cancelled', 'paid_after_cancel'], ['order.cancelled'], E])
  })

  it('confirming | transaction orphaned by a reorg | recomputed | –', () => {
    const gone = story().pays('a', { status: 'detected' }).pays('a', { status: 'orphaned', revision: 2 })
    expect([gone.is(), gone.told()]).toEqual([['pending', null], []])
    expect(gone.pays('a', { second: 700, revision: 3 }).told()).toEqual(['order.paid'])
  })

  it('paid | its transaction orphaned | recomputed, reorged | none, and none when it is back', () => {
    const gone = story().pays('a').pays('a', { status: 'orphaned', revision: 2 })
    expect([gone.is(), gone.told(), gone.order().receivedUnits]).toEqual([['pending', 'reorged'], ['order.paid'], 0n])
    gone.pays('b', { second: 800 })
    expect([gone.is(), gone.told(), gone.order().txHash]).toEqual([['paid', null], ['order.paid'], '0xb'])
    gone.pays('b', { status: 'orphaned', revision: 2, second: 800 }).chainAt(2000)
    expect([gone.is(), gone.told()]).toEqual([['expired', 'reorged'], ['order.paid']])
  })

  it('fee + expected = gross', () => expect(splitFee(100n, 100n)).toEqual({ fee: 1n, expected: E }))
})
