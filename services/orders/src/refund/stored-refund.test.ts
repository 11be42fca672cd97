import type { RefundObserved } from '@ponte/contracts'
import { refundNonce } from '../chain/refund-nonce'
import type { Order } from '../order/order'
import { observe, refundEvents, refundWatch, type StoredRefund, UNOBSERVED } from './stored-refund'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000)
const seconds = (date: Date) => date.getTime() / 1_000
const order = { merchantId: 'm', merchantVersion: 3, externalRef: 'INV-7', subscriptionId: null } as Order
const [id, payee, units] = ['r1', '0x0A', 5_000_000n]
const made: StoredRefund = {
  ...UNOBSERVED,
  ...{ id, payee, units, nonce: refundNonce(id, payee, units), orderId: 'o1', merchantId: 'm', chainId: 1, fromAddress: '0x0B' },
  ...{ watchFrom: 0n, reason: 'It came back', requestedBy: null, createdAt: at(0) },
}
const signed = (...ends: number[]): StoredRefund => ({
  ...made,
  signatures: ends.map(end => ({ validBefore: at(end), signature: `0x${end}`, seenAt: at(0) })),
})
/** As the listener states it, one statement after the other. */
function stated(before: StoredRefund, second: number, kind: 'transferred' | 'cancelled' | null = null): StoredRefund {
  const observed = {
    ...{ chain_id: 1, generation: 'g', revision: before.revision + 1, refund_id: id, order_id: 'o1', nonce: made.nonce },
    ...{ block_number: second, block_time: at(second).toISOString(), wallet_balance: '9.000000', valid_before: null },
    end: kind && { kind, tx_hash: '0xf', log_index: 0, block_number: second, block_time: at(second).toISOString() },
  } as RefundObserved
  const after = observe(before, observed, true, at(second))
  if (!after) throw new Error('the statement was not taken')
  return after
}
const types = (before: StoredRefund | null, after: StoredRefund) => refundEvents(before, after, order, at(99)).map(({ type }) => type)

describe('the merchant is notified', () => {
  it('that a refund was made, and that its money went back, once, whatever is stated after that', () => {
    expect(refundEvents(null, made, order, at(0))).toEqual([
      {
        type: 'refund.created',
        data: {
          ...{ merchant_id: 'm', merchant_version: 3, subscription_id: null },
          refund: { id, order_id: 'o1', external_ref: 'INV-7', amount: '5.000000', payee_address: payee },
        },
      },
    ])
    const before = signed(10)
    const back = stated(before, 5, 'transferred')
    expect(refundEvents(before, back, order, at(6))).toMatchObject([
      { type: 'refund.confirmed', data: { refund: { tx_hash: '0xf', confirmed_at: at(5).toISOString() } } },
    ])
    expect(types(back, stated(back, 20, 'transferred'))).toEqual([])
  })

  it('again when a reorganisation took it back and it is mined once more', () => {
    const back = stated(signed(10), 5, 'transferred')
    const taken = stated(back, 6)
    expect([types(back, taken), types(taken, stated(taken, 7, 'transferred'))]).toEqual([[], ['refund.confirmed']])
  })

  it('that what was signed can move nothing more: by its end or by its cancellation, once, and not while another one lives', () => {
    const before = signed(10)
    expect(types(before, stated(before, 9))).toEqual([])
    const over = stated(before, 10)
    expect(refundEvents(before, over, order, at(11))).toMatchObject([
      { type: 'refund.failed', data: { refund: { failure_code: 'authorization_expired', failed_at: at(11).toISOString() } } },
    ])
    expect(types(over, stated(over, 12))).toEqual([])
    expect(types(signed(10, 30), stated(signed(10, 30), 11))).toEqual([])
    expect(refundEvents(before, stated(before, 5, 'cancelled'), order, at(6))).toMatchObject([
      { type: 'refund.failed', data: { refund: { failure_code: 'authorization_cancelled' } } },
    ])
  })

  it('of nothing while nothing was signed', () => {
    expect(types(made, stated(made, 50))).toEqual([])
    expect(types(made, stated(made, 50, 'cancelled'))).toEqual([])
  })
})

describe('the listener is asked again', () => {
  const heardOf = (before: StoredRefund, valid_before: number | null, end: RefundObserved['end'] = null) => {
    const observed = {
      generation: 'g',
      revision: before.revision + 1,
      nonce: made.nonce,
      valid_before,
      block_number: 5,
      block_time: at(5).toISOString(),
    }
    return observe(before, { ...observed, wallet_balance: null, end } as RefundObserved, true, at(6))?.knownAt
  }
  it('at once while it watches less than was signed, and else when it was not heard of for long', () => {
    expect([heardOf(signed(10), null), heardOf(signed(10, 20), seconds(at(10)))]).toEqual([null, null])
    expect([heardOf(made, null), heardOf(signed(10), seconds(at(10)))]).toEqual([at(6), at(6)])
  })

  it('at once where a wallet’s own transaction was undone', () => {
    const back = stated(made, 5, 'transferred')
    expect([back.knownAt, stated(back, 6).knownAt]).toEqual([at(5), null])
  })
})

describe('what is submitted', () => {
  const watched = (refund: StoredRefund) => refundWatch([refund], 1).data
  it('is the signature with the latest end, and none of a refund that is cancelled', () => {
    expect(watched(made)).toMatchObject({ refunds: [{ valid_before: null, signature: null }] })
    expect(watched(signed(30, 10))).toMatchObject({ refunds: [{ valid_before: seconds(at(30)), signature: '0x30', is_withdrawn: false }] })
    const cancelled = { ...signed(10), cancelledAt: at(11) }
    expect(watched(cancelled)).toMatchObject({ refunds: [{ valid_before: seconds(at(10)), signature: null, is_withdrawn: true }] })
  })

  it('is none that was seen on the chain alone', () => {
    const seen = stated(made, 5, 'transferred')
    expect(watched(seen)).toMatchObject({ refunds: [{ valid_before: null, signature: null }] })
  })
})
