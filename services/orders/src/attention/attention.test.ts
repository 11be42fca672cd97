import { takenUnits, unmatchedId } from './attention'

describe('what an order takes of what came', () => {
  const plain = { exception: null, subscriptionId: null, supersededAt: null }
  const of = (status: 'paid' | 'underpaid' | 'expired' | 'cancelled' | 'pending', confirmedUnits: bigint) =>
    takenUnits({ ...plain, status, confirmedUnits, usdcUnits: 100n })
  const ofPeriod = (confirmedUnits: bigint, exception: 'paid_late' | null, supersededAt: Date | null) =>
    takenUnits({ ...{ status: 'expired', subscriptionId: 'a plan', usdcUnits: 100n }, confirmedUnits, exception, supersededAt })
  it.each([
    ['all of it while a part is missing', of('underpaid', 60n), 60n],
    ['what it asked for, of more', of('paid', 250n), 100n],
    ['what came, when that was short within the tolerance', of('paid', 99n), 99n],
    ['what is left after a reorganisation', of('pending', 40n), 40n],
    ['nothing once it has expired', of('expired', 100n), 0n],
    ['nothing once it is cancelled', of('cancelled', 100n), 0n],
    ['what its period asks for no more', ofPeriod(40n, null, null), 40n],
    ['the same once another order was paid for the rest', ofPeriod(40n, null, new Date(0)), 40n],
    ['what the merchant may accept for the period, late', ofPeriod(130n, 'paid_late', null), 100n],
    ['nothing of what came late beside the order that was paid', ofPeriod(100n, 'paid_late', new Date(0)), 0n],
  ])('is %s', (_, taken, expected) => expect(taken).toBe(expected))
})

test('the id of an unmatched payment is a UUIDv7 of its time, always the same', () => {
  const payment = { id: '31337:0xab:0', block_time: '2026-11-20T12:00:00.000Z' }
  expect(unmatchedId(payment)).toBe(unmatchedId({ ...payment }))
  expect(unmatchedId(payment)).toMatch(/^01a1f8d3-ea00-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(unmatchedId(payment)).not.toBe(unmatchedId({ ...payment, id: '31337:0xab:1' }))
})
