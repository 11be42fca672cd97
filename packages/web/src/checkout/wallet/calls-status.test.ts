import { callsId, endOf, isAtomic } from './calls-status'

const BASE = '0x2105'
const hash = `0x${'ab'.repeat(32)}`

test.each([
  ['supported', true],
  ['ready', true],
  ['unsupported', false],
  [true, false],
  [undefined, false],
])('a chain whose atomic status is %s is one of calls taken together: %s', (status, isOne) => {
  expect(isAtomic({ [BASE]: { atomic: { status } } }, BASE)).toBe(isOne)
})

test('capabilities of another chain, of an older draft, or none are no promise', () => {
  const others = [
    { '0x1': { atomic: { status: 'supported' } } },
    { [BASE]: { atomicBatch: { supported: true } } },
    {},
    null,
    'yes',
    undefined,
  ]
  for (const other of others) expect(isAtomic(other, BASE)).toBe(false)
  expect(isAtomic({ '0xA86A': { atomic: { status: 'ready' } } }, '0xa86a')).toBe(true)
})

test('the id is 64 bytes, another one for another salt', () => {
  const id = callsId('0a'.repeat(32), `0x${'1'.padStart(64, '0')}`)
  expect(id).toMatch(/^0x[0-9a-f]{128}$/)
  expect(callsId('0a'.repeat(32), `0x${'2'.padStart(64, '0')}`)).not.toBe(id)
})

const receipt = { status: '0x1', transactionHash: hash }
test.each([
  ['pending', { status: 100 }],
  ['pending', { status: 200 }],
  ['pending', { status: 200, receipts: [] }],
  ['pending', { status: 200, receipts: [{ status: '0x1', transactionHash: 'a hash' }] }],
  [hash, { status: 200, receipts: [receipt] }],
  // A wallet that made several transactions after all: the last one pays.
  [hash, { status: 200, receipts: [{ ...receipt, transactionHash: `0x${'cd'.repeat(32)}` }, receipt] }],
  ['failed', { status: 200, receipts: [receipt, { ...receipt, status: '0x0' }] }],
  ['failed', { status: 400 }],
  ['failed', { status: 500, receipts: [receipt] }],
  ['failed', { status: 600 }],
  ['unknown', { status: 'CONFIRMED' }],
  ['unknown', null],
])('%s is the end of %j', (end, answer) => {
  expect(endOf(answer)).toBe(end)
})
