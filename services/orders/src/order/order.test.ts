import { CENT, formatUsdc, type NewEvent, OPT_IN_EVENTS } from '@ponte/contracts'
import { type Payment, withPayments } from '../payment/payment'
import { accept } from './acceptance'
import { open } from './new-order'
import { type Change, cancel, givenAwayUnits, type Order, review, supersede } from './order'
import { receivePayments } from './progress'
import type { ChainView } from './verdict'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000)
const EXPIRES = 1000
const USDC = 1_000_000n
/** The asked amount, and the least that pays it. */
const ASKED = 100n * USDC
const REQUIRED = ASKED - CENT

const fresh = (subscriptionId: string | null = null, centavos = 10_000_00n, tolerances: { own?: bigint; merchant?: string } = {}): Order =>
  open(
    {
      id: '01981f3c-0000-7000-8000-000000000002',
      memo: 'ab'.repeat(32),
      terms: {
        ...{ merchant_id: '01981f3c-0000-7000-8000-000000000001', version: 3, display_name: 'Padaria', payout_address: '0x01' },
        ...(tolerances.merchant === undefined ? {} : { payment_tolerance: tolerances.merchant }),
      },
      subscriptionId,
      externalRef: 'INV-7',
      description: null,
      metadata: {},
      brlCentavos: centavos,
      toleranceUnits: tolerances.own ?? null,
      expiresAt: at(EXPIRES),
    },
    { rateMicros: 100_000_000n, source: 'static', asOf: at(0), spreadBps: 0 },
    { chainId: 1, tokenAddress: '0x02', routerAddress: '0x03', feeBps: 100n, tolerance: { defaultUnits: CENT, maxUnits: 5_000_000n } },
    at(0),
  )

const isOptIn = (type: string) => OPT_IN_EVENTS.some(each => each === type)

interface Fact {
  gross?: bigint
  /** When it was paid. */
  second?: number
  /** The block that it is in; its time unless given. */
  block?: number
  status?: Payment['status']
  revision?: number
}

/** An order to which things happen, and the events about it. The block's number is its time. */
function story(order = fresh()) {
  let payments: Payment[] = []
  let isWatched = true
  let chain: ChainView = { time: null }
  const events: NewEvent[] = []
  const take = (change: Change) => {
    events.push(...change.events)
    order = change.order
  }
  const look = () => take(review({ order, isWatched }, chain, at(5000)))
  const self = {
    pays(id: string, { gross = ASKED, second = 500, block = second, status = 'confirmed', revision = 1 }: Fact = {}) {
      const known = payments.find(payment => payment.id === id)
      const changed: Payment = {
        id,
        kind: 'router',
        status,
        grossUnits: gross,
        payerAddress: '0x09',
        depositAddress: null,
        txHash: `0x${id}`,
        blockNumber: BigInt(block),
        blockTime: at(second),
        logIndex: known?.logIndex ?? payments.length,
        blockHash: `0xb${id}`,
        generation: null,
        version: revision,
      }
      // As the service does: with what changes alone, and with all of them where that is not enough.
      const some = receivePayments({ order, isWatched, payments: known ? [known] : [], isAll: false }, [changed], chain, at(5000))
      const change = some ?? receivePayments({ order, isWatched, payments, isAll: true }, [changed], chain, at(5000))
      if (change) take(change)
      payments = withPayments(payments, [changed])
      return self
    },
    /** Several at once, as in one event. */
    paysAll(parts: readonly { id: string; gross: bigint }[]) {
      const changed = parts.map(
        ({ id, gross }, index): Payment => ({
          ...{ id, kind: 'router', status: 'confirmed', grossUnits: gross, payerAddress: '0x09', depositAddress: null, txHash: '0xall' },
          ...{ blockNumber: 500n, blockTime: at(500), logIndex: index, blockHash: '0xb', generation: null, version: 1 },
        }),
      )
      const change = receivePayments({ order, isWatched, payments: [], isAll: false }, changed, chain, at(5000))
      if (change) take(change)
      payments = withPayments(payments, changed)
      return self
    },
    chainAt(second: number) {
      chain = { ...chain, time: at(second) }
      look()
      return self
    },
    /** The order is watched from now on, or not any more. */
    watched(now: boolean) {
      isWatched = now
      look()
      return self
    },
    cancels() {
      const change = cancel(order, at(400))
      if (change) take(change)
      return self
    },
    accepts(reason = 'The exchange kept a dollar') {
      take(accept({ order, isWatched }, { reason, by: 'ana' }, chain, at(4500)))
      return self
    },
    is: () => [order.status, order.exception],
    order: () => order,
    published: () => events.map(event => event.type).filter(type => !isOptIn(type)),
    /** The kinds that go only where they were chosen. */
    chosen: () => events.map(event => event.type).filter(isOptIn),
    events,
  }
  return self
}

describe('the states of an order', () => {
  it('– | create | pending | no webhook', () => {
    expect(story().is()).toEqual(['pending', null])
    expect(fresh()).toMatchObject({ usdcUnits: ASKED, expectedUnits: 99n * USDC, feeUnits: USDC, toleranceUnits: CENT })
  })

  it('pending, underpaid | seen ≥ required > confirmed | confirming | –', () => {
    expect(story().pays('a', { status: 'detected' }).is()).toEqual(['confirming', null])
    const topped = story()
      .pays('a', { gross: 40n * USDC })
      .pays('b', { gross: 60n * USDC, status: 'detected' })
    expect([topped.is(), topped.published()]).toEqual([['confirming', null], ['order.underpaid']])
  })

  it('pending | 0 < confirmed < required and nothing unconfirmed | underpaid | order.underpaid with expected and received as the merchant’s share', () => {
    const short = story().pays('a', { gross: 40n * USDC })
    expect([short.is(), short.published()]).toEqual([['underpaid', null], ['order.underpaid']])
    expect(short.events[0]?.data).toMatchObject({ order: { expected: '99.000000', received: '39.600000', tx_hash: '0xa' } })
  })

  it('pending | 0 < confirmed < required and something unconfirmed | pending | – until it is confirmed', () => {
    const waiting = story()
      .pays('b', { gross: 10n * USDC, status: 'detected', second: 501 })
      .pays('a', { gross: 40n * USDC })
    expect([waiting.is(), waiting.published()]).toEqual([['pending', null], []])
    waiting.pays('b', { gross: 10n * USDC, second: 501, revision: 2 })
    expect([waiting.is(), waiting.published()]).toEqual([['underpaid', null], ['order.underpaid']])
    expect(waiting.events[0]?.data).toMatchObject({ order: { received: '49.500000' } })
  })

  it('underpaid | something unconfirmed, still short | underpaid without flicker | –', () => {
    const short = story()
      .pays('a', { gross: 40n * USDC })
      .pays('b', { gross: USDC, status: 'detected' })
    expect([short.is(), short.published()]).toEqual([['underpaid', null], ['order.underpaid']])
    short.pays('b', { gross: USDC, status: 'orphaned', revision: 2 })
    expect([short.is(), short.published()]).toEqual([['underpaid', null], ['order.underpaid']])
  })

  it('underpaid | confirmed grew by a cent, still short | underpaid | order.underpaid again', () => {
    const short = story()
      .pays('a', { gross: 40n * USDC })
      .pays('b', { gross: 10n * USDC })
    expect([short.is(), short.published()]).toEqual([
      ['underpaid', null],
      ['order.underpaid', 'order.underpaid'],
    ])
    expect(short.events[1]?.data).toMatchObject({ order: { received: '49.500000', tx_hash: '0xb' } })
  })

  it.each([
    ['pending', () => story()],
    ['confirming', () => story().pays('a', { status: 'detected' })],
    ['underpaid', () => story().pays('z', { gross: USDC, second: 100 })],
  ])('%s | confirmed ≥ required, the completing block on time | paid | order.paid', (_from, begun) => {
    const paid = begun().pays('a', { second: EXPIRES, revision: 2 })
    expect([paid.order().status, paid.published().filter(type => type === 'order.paid')]).toEqual(['paid', ['order.paid']])
    expect(paid.order()).toMatchObject({ txHash: '0xa', paidAt: at(5000) })
  })

  it('pending | confirmed > asked + tolerance, on time | paid, overpaid | order.paid', () => {
    const paid = story().pays('a', { gross: 150n * USDC })
    expect([paid.is(), paid.published()]).toEqual([['paid', 'overpaid'], ['order.paid']])
  })

  it('a subscription’s order is published as order.paid with its subscription_id, which becomes subscription.charged', () => {
    const paid = story(fresh('01981f3c-0000-7000-8000-000000000009')).pays('a')
    expect(paid.events[0]).toMatchObject({
      type: 'order.paid',
      data: { merchant_version: 3, order: { subscription_id: '01981f3c-0000-7000-8000-000000000009', external_ref: 'INV-7' } },
    })
  })

  it.each([
    [1n, null],
    [CENT, null],
    [CENT + 1n, 'overpaid'],
    [REQUIRED - 1n, 'overpaid'],
    [REQUIRED, 'duplicate'],
    [ASKED, 'duplicate'],
  ] as const)('paid | another confirmed payment of %s | paid, %s | none', (gross, exception) => {
    const again = story().pays('a').pays('b', { gross, second: 2000 })
    expect([again.is(), again.published(), again.order().txHash]).toEqual([['paid', exception], ['order.paid'], '0xa'])
  })

  it.each([
    ['pending', () => story()],
    ['underpaid', () => story().pays('a', { gross: 40n * USDC })],
  ])('%s | Tc > expires_at | expired | order.expired, once', (_from, begun) => {
    expect(begun().chainAt(EXPIRES).published()).not.toContain('order.expired')
    const gone = begun()
      .chainAt(EXPIRES + 1)
      .chainAt(EXPIRES + 2)
    expect([gone.is(), gone.published().filter(type => type === 'order.expired')]).toEqual([['expired', null], ['order.expired']])
  })

  it('confirming | Tc > expires_at | stays until confirmed or orphaned', () => {
    const begun = () => story().pays('a', { status: 'detected' }).chainAt(2000)
    expect([begun().is(), begun().published()]).toEqual([['confirming', null], []])
    expect(begun().pays('a', { revision: 2 }).published()).toEqual(['order.paid'])
    const gone = begun().pays('a', { revision: 2, status: 'orphaned' })
    expect([gone.is(), gone.published()]).toEqual([['expired', null], ['order.expired']])
  })

  it('expired | confirmed ≥ required, paid in time and seen late | paid | order.paid', () => {
    const late = story().chainAt(2000).pays('a', { second: EXPIRES })
    expect([late.is(), late.published()]).toEqual([
      ['paid', null],
      ['order.expired', 'order.paid'],
    ])
  })

  it('expired | confirmed ≥ required with a late block | expired, paid_late | none', () => {
    const late = story()
      .chainAt(2000)
      .pays('a', { second: EXPIRES + 1 })
    expect([late.is(), late.published(), late.order().txHash]).toEqual([['expired', 'paid_late'], ['order.expired'], '0xa'])
  })

  it('expired | a late payment on its way | expired | nothing twice', () => {
    const late = story().chainAt(2000).pays('a', { second: 2001, status: 'detected' })
    expect([late.is(), late.published()]).toEqual([['expired', null], ['order.expired']])
    late.pays('a', { second: 2001, revision: 2 }).chainAt(3000)
    expect([late.is(), late.published()]).toEqual([['expired', 'paid_late'], ['order.expired']])
  })

  it('pending | confirmed ≥ required late, Tc not there yet | confirming, then expired, paid_late | order.expired', () => {
    const late = story().pays('a', { second: EXPIRES + 1 })
    expect([late.is(), late.published()]).toEqual([['confirming', null], []])
    late.chainAt(EXPIRES + 1)
    expect([late.is(), late.published()]).toEqual([['expired', 'paid_late'], ['order.expired']])
  })

  it('pending | cancel | cancelled | order.cancelled', () => {
    const gone = story().cancels()
    expect([gone.is(), gone.published()]).toEqual([['cancelled', null], ['order.cancelled']])
    expect(gone.events[0]?.data).toMatchObject({ order: { external_ref: 'INV-7' } })
  })

  it.each([
    ['confirming', () => story().pays('a', { status: 'detected' })],
    ['underpaid', () => story().pays('a', { gross: 40n * USDC })],
    ['pending with money on its way', () => story().pays('a', { gross: USDC, status: 'detected' })],
  ])('%s | cancel | 409 order_has_payments', (_from, begun) => {
    expect(() => begun().cancels()).toThrow(expect.objectContaining({ code: 'order_has_payments' }))
  })

  it('cancelled | cancel | the same | none', () => {
    expect(story().cancels().cancels().published()).toEqual(['order.cancelled'])
  })

  it.each([
    ['paid', () => story().pays('a')],
    ['expired', () => story().chainAt(2000)],
  ])('%s | cancel | 409 invalid_state', (_from, begun) => {
    expect(() => begun().cancels()).toThrow(expect.objectContaining({ code: 'invalid_state' }))
  })

  it('paid, and taken away by a reorganisation | cancel | 409 invalid_state, and order.cancelled is never published', () => {
    const gone = story().pays('a').pays('a', { status: 'orphaned', revision: 2 })
    expect(gone.is()).toEqual(['pending', 'reorged'])
    expect(() => gone.cancels()).toThrow(expect.objectContaining({ code: 'invalid_state' }))
    expect(gone.published()).toEqual(['order.paid'])
  })

  it('cancelled | confirmed payment | cancelled, paid_after_cancel | none', () => {
    const gone = story().cancels().pays('a', { status: 'detected' })
    expect(gone.is()).toEqual(['cancelled', null])
    gone.pays('a', { revision: 2 }).chainAt(2000)
    expect([gone.is(), gone.published(), gone.order().confirmedUnits]).toEqual([
      ['cancelled', 'paid_after_cancel'],
      ['order.cancelled'],
      ASKED,
    ])
  })

  it('confirming | transaction orphaned by a reorg | recomputed | –', () => {
    const gone = story().pays('a', { status: 'detected' }).pays('a', { status: 'orphaned', revision: 2 })
    expect([gone.is(), gone.published()]).toEqual([['pending', null], []])
    expect(gone.pays('a', { second: 700, revision: 3 }).published()).toEqual(['order.paid'])
  })

  it('paid | a payment that lies before it in the chain is reported later | keeps the transaction of its order.paid', () => {
    const late = story().pays('b', { second: 800 }).pays('a', { second: 700 })
    expect([late.is(), late.published(), late.order().txHash]).toEqual([['paid', 'duplicate'], ['order.paid'], '0xb'])
  })

  it('paid | its transaction orphaned | recomputed, reorged | none, and none when it is back', () => {
    const gone = story().pays('a').pays('a', { status: 'orphaned', revision: 2 })
    expect([gone.is(), gone.published(), gone.order().confirmedUnits]).toEqual([['pending', 'reorged'], ['order.paid'], 0n])
    gone.pays('b', { second: 800 })
    expect([gone.is(), gone.published(), gone.order().txHash]).toEqual([['paid', null], ['order.paid'], '0xb'])
    gone.pays('b', { status: 'orphaned', revision: 2, second: 800 }).chainAt(2000)
    expect([gone.is(), gone.published()]).toEqual([['expired', 'reorged'], ['order.paid']])
  })
})

describe('what came is accepted as payment in full, by the merchant’s word', () => {
  const short = () => story().pays('a', { gross: 60n * USDC })
  const late = () => story().chainAt(2000).pays('a', { second: 2001 })
  const givenAway = ({ order }: ReturnType<typeof story>) => givenAwayUnits(order())

  it.each([
    ['underpaid', short, ['order.underpaid', 'order.paid'], 40n * USDC],
    ['expired, too little', () => short().chainAt(2000), ['order.underpaid', 'order.expired', 'order.paid'], 40n * USDC],
    ['expired, paid_late', late, ['order.expired', 'order.paid'], 0n],
    [
      'cancelled, paid_after_cancel',
      () =>
        story()
          .cancels()
          .pays('a', { gross: 99n * USDC }),
      ['order.cancelled', 'order.paid'],
      USDC,
    ],
  ])('%s | accept | paid | order.paid', (_from, begun, types, given) => {
    const taken = begun().accepts()
    expect([taken.is(), taken.published(), givenAway(taken)]).toEqual([['paid', null], types, given])
    expect(taken.chosen().at(-1)).toBe('order.accepted')
    expect(taken.events.find(({ type }) => type === 'order.accepted')?.data).toMatchObject({
      order: { tx_hash: '0xa', accepted_at: at(4500).toISOString(), reason: 'The exchange kept a dollar', given_away: formatUsdc(given) },
    })
    expect(taken.order()).toMatchObject({ paidAt: at(4500), acceptedBy: 'ana', acceptedUnits: taken.order().confirmedUnits })
    expect(taken.chainAt(5000).is()).toEqual(['paid', null])
  })

  it.each([
    ['nothing came', () => story()],
    ['nothing is confirmed', () => story().pays('a', { status: 'detected' })],
    ['dust came', () => story().pays('a', { gross: CENT - 1n })],
    ['more is being confirmed', () => story().pays('a', { gross: USDC, status: 'detected' }).pays('b', { gross: USDC })],
    ['what pays it is being confirmed', () => short().pays('b', { status: 'detected' })],
    ['it expired with nothing', () => story().chainAt(2000)],
    ['it is paid', () => story().pays('a')],
    ['it was accepted', () => short().accepts()],
    [
      'a reorganisation took its payment away',
      () => story().pays('b', { gross: USDC }).pays('a').pays('a', { status: 'orphaned', revision: 2 }),
    ],
    ['a reorganisation took what was accepted away', () => short().accepts().pays('a', { status: 'orphaned', revision: 2 })],
    [
      'another order of its period counted before anything came',
      () => {
        const { order } = supersede({ order: fresh('plan'), isWatched: true }, { time: null }, at(1))
        expect(order.status).toBe('cancelled')
        return story(order).pays('a', { gross: 60n * USDC })
      },
    ],
    ['another order of its period counts', () => story({ ...fresh('plan'), supersededAt: at(1) }).pays('a', { gross: 60n * USDC })],
  ])('%s | accept | 409 invalid_state', (_what, begun) => {
    const refused = begun()
    const before = [refused.order(), refused.events.length]
    expect(() => refused.accepts()).toThrow(expect.objectContaining({ code: 'invalid_state' }))
    expect([refused.order(), refused.events.length]).toEqual(before)
  })

  it('money that comes after is counted, makes what was given away less, and is over or twice as for any paid order', () => {
    const taken = short()
      .accepts()
      .pays('b', { gross: 30n * USDC, second: 3000 })
    expect([taken.is(), givenAway(taken)]).toEqual([['paid', null], 10n * USDC])
    taken.pays('c', { gross: 30n * USDC, second: 3001 })
    expect([taken.is(), givenAway(taken)]).toEqual([['paid', 'overpaid'], 0n])
    expect([taken.pays('d', { second: 3002 }).is(), taken.order().txHash]).toEqual([['paid', 'duplicate'], '0xa'])
    expect(taken.published()).toEqual(['order.underpaid', 'order.paid'])
  })

  it('is undone by a reorganisation of the money that it rests on, stands again with it, and is notified of once', () => {
    const taken = story()
      .pays('a', { gross: 40n * USDC })
      .pays('b', { gross: 20n * USDC, second: 600 })
      .chainAt(2000)
      .accepts()
    taken.pays('b', { status: 'orphaned', gross: 20n * USDC, second: 600, revision: 2 })
    expect([taken.is(), givenAway(taken)]).toEqual([['expired', 'reorged'], 0n])
    taken.pays('b', { gross: 20n * USDC, second: 600, revision: 3 })
    expect([taken.is(), taken.order().txHash, givenAway(taken)]).toEqual([['paid', null], '0xb', 40n * USDC])
    expect(taken.published()).toEqual(['order.underpaid', 'order.underpaid', 'order.expired', 'order.paid'])
  })

  it('of a cancelled order, whose money a reorganisation took away: cancelled, reorged', () => {
    const taken = story().cancels().pays('a', { second: 600 }).accepts().pays('a', { second: 600, status: 'orphaned', revision: 2 })
    expect([taken.is(), taken.published()]).toEqual([
      ['cancelled', 'reorged'],
      ['order.cancelled', 'order.paid'],
    ])
  })

  it('of a subscription’s order is published as its order.paid, with what it shows from now on', () => {
    const taken = story(fresh('plan'))
      .pays('a', { gross: 60n * USDC })
      .accepts()
    expect(taken.published()).toEqual(['order.received', 'order.underpaid', 'order.updated', 'order.paid', 'order.updated'])
    expect(taken.events.find(({ type }) => type === 'order.paid')?.data).toMatchObject({ order: { subscription_id: 'plan' } })
  })
})

describe('less than a cent decides nothing', () => {
  it('273.06 of 273.062731 pays the order: exchanges send two decimals', () => {
    const order = fresh(null, 27_306_27n)
    const paid = story({ ...order, usdcUnits: 273_062_731n }).pays('a', { gross: 273_060_000n })
    expect([paid.is(), paid.published()]).toEqual([['paid', null], ['order.paid']])
  })

  it('an exact payment in parts is not overpaid by a unit of rounding', () => {
    const parts = story().pays('a', { gross: 33_333_333n }).pays('b', { gross: 33_333_333n }).pays('c', { gross: 33_333_334n })
    expect(parts.is()).toEqual(['paid', null])
    const over = story().pays('a', { gross: ASKED + CENT })
    expect(over.is()).toEqual(['paid', null])
    expect(
      story()
        .pays('a', { gross: ASKED + CENT + 1n })
        .is(),
    ).toEqual(['paid', 'overpaid'])
  })

  it('short by more than the tolerance is short', () => {
    expect(story().pays('a', { gross: REQUIRED }).is()).toEqual(['paid', null])
    expect(
      story()
        .pays('a', { gross: REQUIRED - 1n })
        .is(),
    ).toEqual(['underpaid', null])
  })

  describe('with a tolerance of a dollar', () => {
    const kind = () => story(fresh(null, undefined, { own: USDC }))

    it('short by as much is paid, and by more underpaid', () => {
      const paid = kind().pays('a', { gross: 99n * USDC })
      expect([paid.is(), paid.published()]).toEqual([['paid', null], ['order.paid']])
      const short = kind().pays('a', { gross: 99n * USDC - 1n })
      expect([short.is(), short.published()]).toEqual([['underpaid', null], ['order.underpaid']])
    })

    it('less than that is money all the same, and no dust', () => {
      const half = kind().pays('a', { gross: USDC / 2n })
      expect([half.is(), half.published()]).toEqual([['underpaid', null], ['order.underpaid']])
      expect(() => half.cancels()).toThrow(expect.objectContaining({ code: 'order_has_payments' }))
    })

    it.each([
      ['a cent too much', CENT, null],
      ['ninety cents too much', (9n * USDC) / 10n, 'overpaid'],
    ])('%s: what is forgiven plays no part', (_, more, exception) =>
      expect(
        kind()
          .pays('a', { gross: ASKED + more })
          .is(),
      ).toEqual(['paid', exception]),
    )

    it('what comes after it was paid so counts as any more, and is a duplicate where it would have paid it again', () => {
      const more = kind()
        .pays('a', { gross: 99n * USDC })
        .pays('b', { gross: USDC, second: 600 })
      expect([more.is(), more.published()]).toEqual([['paid', null], ['order.paid']])
      const twice = kind()
        .pays('a', { gross: 99n * USDC })
        .pays('b', { gross: 99n * USDC, second: 600 })
      expect(twice.is()).toEqual(['paid', 'duplicate'])
    })

    it('a reorganisation that takes the payment away undoes it', () => {
      const gone = kind()
        .pays('a', { gross: 99n * USDC })
        .pays('a', { gross: 99n * USDC, status: 'orphaned', revision: 2 })
      expect(gone.is()).toEqual(['pending', 'reorged'])
    })
  })

  it.each([
    ['of the order before that of the merchant', { own: 2n * USDC, merchant: '1.000000' }, 2n * USDC],
    ['of the merchant', { merchant: '1.000000' }, USDC],
    ['none, where the merchant wants all of it', { merchant: '0.000000' }, 0n],
    ['of the merchant, as much as is allowed', { merchant: '50.000000' }, 5n * USDC],
    ['by default', {}, CENT],
  ])('the tolerance %s', (_, tolerances, units) => expect(fresh(null, undefined, tolerances).toleranceUnits).toBe(units))

  it('a tolerance of an order beyond what is allowed is refused with what is', () => {
    expect(() => fresh(null, undefined, { own: 5n * USDC + 1n })).toThrow(/at most 5\.000000/)
    expect(() => fresh(null, 100_00n, { own: USDC / 10n + 1n })).toThrow(/at most 0\.100000 for this order of 1\.000000 USDC/)
  })

  it('dust sends no event, and the order can be cancelled', () => {
    const dusty = story()
      .pays('a', { gross: 1n })
      .pays('b', { gross: CENT - 3n })
      .pays('c', { gross: 1n, status: 'detected' })
    expect([dusty.is(), dusty.published()]).toEqual([['pending', null], []])
    dusty.cancels().pays('c', { gross: 1n, revision: 2 })
    expect(dusty.is()).toEqual(['cancelled', null])
    dusty.pays('d', { gross: 1n })
    expect([dusty.is(), dusty.published()]).toEqual([['cancelled', 'paid_after_cancel'], ['order.cancelled']])
  })

  it('dust alone after a cancellation leaves it cancelled', () => {
    expect(
      story()
        .cancels()
        .pays('a', { gross: CENT - 1n })
        .is(),
    ).toEqual(['cancelled', null])
  })

  it('dust in sum a cent is money', () => {
    const dusty = story()
    for (let index = 0; index < 3; index++) dusty.pays(`d${index}`, { gross: CENT / 2n })
    expect([dusty.is(), dusty.published()]).toEqual([['underpaid', null], ['order.underpaid']])
    expect(() => dusty.cancels()).toThrow(expect.objectContaining({ code: 'order_has_payments' }))
  })

  it('dust after an underpayment is not published, and unconfirmed dust holds nothing back', () => {
    const short = story()
      .pays('d', { gross: 1n, status: 'detected' })
      .pays('a', { gross: 40n * USDC })
    expect([short.is(), short.published()]).toEqual([['underpaid', null], ['order.underpaid']])
    short.pays('d', { gross: 1n, revision: 2 }).pays('e', { gross: CENT - 2n })
    expect(short.published()).toEqual(['order.underpaid'])
    short.pays('f', { gross: 1n })
    expect(short.published()).toEqual(['order.underpaid', 'order.underpaid'])
  })

  it('dust after completion leaves the order paid', () => {
    const paid = story().pays('a').pays('b', { gross: 1n, second: 600 })
    expect([paid.is(), paid.order().txHash]).toEqual([['paid', null], '0xa'])
  })

  it('a stranger’s dust in time does not lend its time to a late payment', () => {
    const late = story()
      .pays('dust', { gross: 1n, second: 10 })
      .pays('a', { second: EXPIRES + 7200 })
    late.chainAt(EXPIRES + 7300)
    expect([late.is(), late.published()]).toEqual([['expired', 'paid_late'], ['order.expired']])
  })

  it('an order of less than a cent is paid, short or late like any other', () => {
    const tiny = () => story(fresh(null, 10n))
    expect(tiny().order()).toMatchObject({ usdcUnits: 1_000n, toleranceUnits: 10n })
    expect(tiny().pays('a', { gross: 990n }).is()).toEqual(['paid', null])
    expect(tiny().pays('a', { gross: 989n }).is()).toEqual(['pending', null])
    expect(tiny().cancels().pays('a', { gross: 990n }).is()).toEqual(['cancelled', 'paid_after_cancel'])
  })
})

describe('an order expires only while it is watched in the present generation', () => {
  const unwatched = () => story().watched(false)

  it('not before the listener has answered, whatever the chain’s time', () => {
    const order = unwatched().chainAt(9000)
    expect(order.is()).toEqual(['pending', null])
    expect([order.watched(true).is(), order.published()]).toEqual([['expired', null], ['order.expired']])
  })

  it('paid in time and seen late: paid, and never expired', () => {
    const order = unwatched().chainAt(9000).pays('a', { second: EXPIRES }).watched(true).chainAt(9001)
    expect([order.is(), order.published()]).toEqual([['paid', null], ['order.paid']])
  })
})

it('a later statement about the same log replaces its amount too: what was confirmed is counted anew', () => {
  const corrected = story()
    .pays('a', { gross: 40n * USDC })
    .pays('a', { gross: 70n * USDC, revision: 2 })
  expect(corrected.order()).toMatchObject({ confirmedUnits: 70n * USDC, seenUnits: 70n * USDC })
})

describe('payments of one event are judged together', () => {
  it('one transaction that pays exactly in parts is paid once, and never underpaid', () => {
    const parts = Array.from({ length: 5 }, (_, index) => ({ id: `p${index}`, gross: 20n * USDC }))
    const paid = story().paysAll(parts)
    expect([paid.is(), paid.published()]).toEqual([['paid', null], ['order.paid']])
  })
})

describe('what a merchant may choose to receive', () => {
  const overpaid = () =>
    story()
      .pays('a')
      .pays('b', { gross: 40n * USDC, second: 2000 })

  it('order.settled in the same change as order.paid when the router took it all', () => {
    const paid = story().pays('a')
    expect(paid.events.map(({ type }) => type)).toEqual(['order.paid', 'order.settled'])
    expect(paid.events[1]).toMatchObject({ data: { order: { settlement_tx_hash: '0xa', payout_address: '0x01', tx_hash: '0xa' } } })
    expect(paid.order().settledAt).not.toBeNull()
  })

  it('order.overpaid with what has come in all, again when it grows by a cent, and not for dust or for a look', () => {
    const over = overpaid()
    expect(over.chosen()).toEqual(['order.settled', 'order.overpaid'])
    expect(over.events.at(-1)).toMatchObject({
      type: 'order.overpaid',
      data: { merchant_version: 3, order: { tx_hash: '0xb', expected: '99.000000', received: '138.600000' } },
    })
    over.chainAt(3000).pays('c', { gross: 1n, second: 2500 })
    expect(over.chosen()).toHaveLength(2)
    over.pays('d', { gross: CENT, second: 2600 })
    expect(over.chosen()).toEqual(['order.settled', 'order.overpaid', 'order.overpaid'])
  })

  it('order.duplicate when it is paid twice, also after it was overpaid', () => {
    expect(
      overpaid()
        .pays('c', { gross: 60n * USDC, second: 2100 })
        .chosen()
        .slice(1),
    ).toEqual(['order.overpaid', 'order.duplicate'])
  })

  it('order.paid_late when the money comes after the end, and order.paid_after_cancel when it was cancelled', () => {
    const late = story()
      .chainAt(EXPIRES + 1)
      .pays('a', { second: EXPIRES + 10 })
    expect([late.is(), late.published(), late.chosen()]).toEqual([['expired', 'paid_late'], ['order.expired'], ['order.paid_late']])
    const after = story().cancels().pays('a')
    expect([after.published(), after.chosen()]).toEqual([['order.cancelled'], ['order.paid_after_cancel']])
  })

  it('nothing when a deep reorg takes a payment away', () => {
    const gone = story().pays('a').pays('a', { status: 'orphaned', revision: 2 })
    expect([gone.is()[1], gone.chosen()]).toEqual(['reorged', ['order.settled']])
  })
})
