import { unmatchedId } from './attention'

test('the id of an unmatched payment is a UUIDv7 of its time, always the same', () => {
  const payment = { id: '31337:0xab:0', block_time: '2026-11-20T12:00:00.000Z' }
  expect(unmatchedId(payment)).toBe(unmatchedId({ ...payment }))
  expect(unmatchedId(payment)).toMatch(/^01a1f8d3-ea00-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(unmatchedId(payment)).not.toBe(unmatchedId({ ...payment, id: '31337:0xab:1' }))
})
