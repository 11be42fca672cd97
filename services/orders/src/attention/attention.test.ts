import { takenUnits, unmatchedId } from './attention'

describe('what an order takes of what came', () => {
  const of = (status: 'paid' | 'underpaid' | 'expired' | 'cancelled' | 'pending', confirmedUnits: bigint) =>
    takenUnits({ status, confirmedUnits, usdcUnits: 100n })
  it.each([
    ['all of it while a part is missing', of('underpaid', 60n), 60n],
    ['what it asked for, of more', of('paid', 250n), 100n],
    ['what came, when that was short within the tolerance', of('paid', 99n), 99n],
    ['what is left after a reorganisation', of('pending', 40n), 40n],
    ['nothing once it has expired', of('expired', 100n), 0n],
    ['nothing once it is cancelled', of('cancelled', 100n), 0n],
  ])('is %s', (_, taken, expected) => expect(taken).toBe(expected))
})

test('the id of an unmatched payment is a UUIDv7 of its time, always the same', () => {
  const payment = { id: '31337:0xab:0', block_time: '2026-11-20T12:00:00.000Z' }
  expect(unmatchedId(payment)).toBe(unmatchedId({ ...payment }))
  expect(unmatchedId(payment)).toMatch(/^01a1f8d3-ea00-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(unmatchedId(payment)).not.toBe(unmatchedId({ ...payment, id: '31337:0xab:1' }))
})
