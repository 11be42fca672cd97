import type { AttentionItemBody } from '@ponte/contracts'
import { amountOf, isFoundBy, nextActOf, sentOf, sinceOf } from './item'

const AT = '2026-11-20T12:00:00.000Z'
const LATER = '2026-11-21T12:00:00.000Z'
const all = { accept: true, attach: true, recover: true, return: true, handle: true }
const none = { accept: false, attach: false, recover: false, return: false, handle: false }
const payment = (block_time: string, status = 'confirmed') => ({
  status,
  block_time,
  tx_hash: '0xAB',
  amount: '60.000000',
  payer_address: '0xF00',
})
const ordered = { external_ref: 'PED-7', description: 'Cesta', status: 'expired', usdc_amount: '100.000000', brl_amount: '542.00' }
const item = (change: object, order: object | null = {}) =>
  ({
    ...{
      id: 'i',
      at: AT,
      reasons: ['underpaid'],
      gross: '60.000000',
      left_over: '0.000000',
      payers: ['0xF00'],
      payment: null,
      actions: [],
    },
    order: order && {
      ...ordered,
      payments: [payment(AT), payment(LATER), payment(`${LATER}9`, 'orphaned')],
      payment: { chain_id: 1 },
      ...order,
    },
    ...change,
  }) as unknown as AttentionItemBody

test.each<[string, AttentionItemBody, string | null]>([
  ['a part is accepted', item({ actions: ['accept'] }), 'accept'],
  ['what came after the cancellation goes back', item({ actions: ['accept'], left_over: '60.000000' }, { status: 'cancelled' }), 'return'],
  [
    'a payment that named no order is counted for one',
    item({ reasons: ['unmatched'], actions: ['attach'], left_over: '60.000000' }, null),
    'attach',
  ],
  ['a foreign token is recovered', item({ reasons: ['foreign_token'], actions: ['recover'] }), 'recover'],
  ['a surplus goes back', item({ reasons: ['overpaid'], left_over: '5.000000' }), 'return'],
  ['nothing of what is blocked goes back', item({ reasons: ['overpaid', 'settlement_blocked'], left_over: '5.000000' }), null],
  ['what has gone back is handled', item({ reasons: ['overpaid'] }), 'handle'],
  ['what no order waits for is handled', item({ reasons: ['unmatched'], left_over: '7.000000' }, null), 'handle'],
  ['what is handled is looked at', item({ actions: ['accept'], handled_at: AT }), null],
])('the next act: %s', (_, one, act) => {
  expect(nextActOf(one, all)).toBe(act)
  expect(nextActOf(one, none)).toBeNull()
})

test('the amount that matters is what is missing, what is too much, or what came', () => {
  expect(amountOf(item({}))).toEqual({ is: 'short', amount: '40.000000' })
  expect(amountOf(item({ reasons: ['duplicate'], left_over: '5.000000' }))).toEqual({ is: 'over', amount: '5.000000' })
  for (const reasons of [['overpaid'], ['paid_late'], ['unmatched']])
    expect(amountOf(item({ reasons }))).toEqual({ is: 'came', amount: '60.000000' })
})

test('it waits since the last of its money was confirmed', () => {
  expect([sinceOf(item({})), sinceOf(item({}, null))]).toEqual([LATER, AT])
})

test('a payment is looked up on its own network, and on the order’s where it names none', () => {
  const there = { ...payment(AT), chain_id: 137, network: 'polygon' }
  expect(sentOf(item({}, { payments: [payment(AT), there] })).map(({ chainId }) => chainId)).toEqual([1, 137])
})

test('it is found by its number, description, sender, hash and amounts', () => {
  const { ...one } = item({})
  for (const text of ['ped-7', ' cesta', '0xf00', '0xab', '542,00', '40.0', '']) expect([text, isFoundBy(one, text)]).toEqual([text, true])
  expect(isFoundBy(one, 'PED-8')).toBe(false)
})
