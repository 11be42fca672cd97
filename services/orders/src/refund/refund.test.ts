import { refundNonce } from '../chain/refund-nonce'
import {
  cancelRefund,
  type NonceFact,
  openRefund,
  promisedUnits,
  type Refund,
  type RefundSignature,
  type RefundView,
  redirectRefund,
  refundStatus,
  signRefund,
} from './refund'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000)
const view = (second: number | null, facts: readonly NonceFact[] = [], walletUnits: bigint | null = null): RefundView => ({
  facts,
  chain: { time: second === null ? null : at(second) },
  walletUnits,
})
const NONE = view(null)
const open = (units = 100n, payee: string | null = '0x0A', others: readonly Refund[] = [], seen = NONE): Refund =>
  openRefund({ id: `r${others.length}`, units, payee }, others, 100n, seen)
const signature = ({ id, payee, units }: Refund, validBefore: number, change: Partial<RefundSignature> = {}): RefundSignature => ({
  ...{ nonce: refundNonce(id, payee ?? '', units), payee: payee ?? '', units, validBefore: at(validBefore), ...change },
})
const signed = (refund = open(), validBefore = 10): Refund => signRefund(refund, signature(refund, validBefore), NONE)
const end = ({ signatures }: Refund, which: NonceFact['end'], isConfirmed = true): NonceFact => ({
  ...{ nonce: signatures[0]?.nonce ?? '', end: which, isConfirmed },
})

it('waits for a payee, then for a signature, is submitted, and confirmed by its transfer alone', () => {
  const refund = open(100n, null)
  expect(refundStatus(refund, NONE)).toBe('awaiting_destination')
  const named = redirectRefund(refund, '0x0A', NONE)
  expect(refundStatus(named, NONE)).toBe('awaiting_signature')
  const sent = signed(named)
  expect(refundStatus(sent, NONE)).toBe('submitted')
  expect(refundStatus(sent, view(5, [end(sent, 'transferred', false)]))).toBe('submitted')
  expect(refundStatus(sent, view(5, [end(sent, 'transferred')]))).toBe('confirmed')
  expect(refundStatus(sent, view(5, [], 99n))).toBe('awaiting_funds')
})

it('stays as it is while a signature may move money: no other payee, no second signature, no cancellation', () => {
  const sent = signed()
  for (const seen of [NONE, view(9), view(9, [end(sent, 'cancelled', false)]), view(9, [end(sent, 'transferred', false)])]) {
    expect(() => redirectRefund(sent, '0x0B', seen)).toThrow('may still move the money')
    expect(() => cancelRefund(sent, seen, at(9))).toThrow('may still move the money')
    expect(() => signRefund(sent, signature(sent, 20), seen)).toThrow('may still move the money')
  }
})

it('is free again once the confirmed chain has passed the end of what was signed, or its cancellation is confirmed', () => {
  const sent = signed()
  for (const seen of [view(10), view(3, [end(sent, 'cancelled')])]) {
    expect(redirectRefund(sent, '0x0B', seen).payee).toBe('0x0B')
    expect(refundStatus(cancelRefund(sent, seen, at(9)), seen)).toBe('cancelled')
    expect(refundStatus(sent, seen)).toBe('awaiting_signature')
  }
  expect(signRefund(sent, signature(sent, 20), view(10)).signatures).toHaveLength(2)
  expect(() => signRefund(sent, signature(sent, 20), view(3, [end(sent, 'cancelled')]))).toThrow('was cancelled on the chain')
})

it('that has gone back is final', () => {
  const sent = signed()
  const seen = view(20, [end(sent, 'transferred')])
  expect(() => redirectRefund(sent, '0x0B', seen)).toThrow('gone back')
  expect(() => cancelRefund(sent, seen, at(9))).toThrow('gone back')
  expect(() => signRefund(sent, signature(sent, 30), seen)).toThrow('gone back')
})

it('returns no more than came, with all that is promised', () => {
  const first = signed(open(60n))
  expect(() => open(60n, '0x0A', [first])).toThrow('no more than came')
  expect(promisedUnits([first, open(40n, null, [first])], NONE)).toBe(100n)
  const cancelled = cancelRefund(first, view(10), at(11))
  expect(open(100n, '0x0A', [cancelled], view(10)).units).toBe(100n)
  expect(() => open(0n)).toThrow('no more than came')
})

it('takes a signature of its own terms alone', () => {
  const refund = open()
  for (const change of [{ payee: '0x0B' }, { units: 99n }, { nonce: '0x00' }])
    expect(() => signRefund(refund, signature(refund, 10, change), NONE)).toThrow('other terms')
  expect(() => signRefund(open(100n, null), signature(refund, 10), NONE)).toThrow('other terms')
  expect(() => signRefund(cancelRefund(refund, NONE, at(0)), signature(refund, 10), NONE)).toThrow('is cancelled')
})
