import type { TransactionFacts } from '@ponte/contracts'
import type { Payment } from '../payment/payment'
import { explain, type Quoted } from './explanation'
import { open } from './new-order'
import type { Order } from './order'

const at = (second: number) => new Date(Date.UTC(2026, 10, 20) + second * 1_000)
const USDC = 1_000_000n
const EXPIRES = 1_000
const REQUIRED = 5
const address = (digit: string) => `0x${digit.repeat(40)}`
const [TOKEN, ROUTER, MERCHANT, DEPOSIT, OTHER_TOKEN, STRANGER, OTHER_DEPOSIT] = ['a', 'b', 'c', 'd', 'e', 'f', '9'].map(address) as [
  ...[string, string, string, string, string, string, string],
]
const HASH = `0x${'5b'.repeat(32)}`
const [MEMO, OTHER_MEMO] = ['ab'.repeat(32), 'cd'.repeat(32)]

/** 100 USDC are asked for until the thousandth second, on chain 1. */
const order = (change: Partial<Order> = {}): Order => ({
  ...open(
    {
      ...{
        id: '01981f3c-0000-7000-8000-000000000002',
        memo: MEMO,
        subscriptionId: null,
        externalRef: null,
        description: null,
        metadata: {},
      },
      terms: { merchant_id: 'mine', version: 1, display_name: 'Padaria', payout_address: MERCHANT },
      ...{ brlCentavos: 10_000_00n, expiresAt: at(EXPIRES) },
    },
    { rateMicros: 100_000_000n, source: 'static', asOf: at(0), spreadBps: 0 },
    { chainId: 1, tokenAddress: TOKEN, routerAddress: ROUTER, feeBps: 100n, tolerance: { defaultUnits: 10_000n, maxUnits: 5_000_000n } },
    at(0),
  ),
  depositAddress: DEPOSIT,
  ...change,
})
const recorded = (status: Payment['status'], second = 500): Payment => ({
  ...{ id: 'p', kind: 'transfer', status, grossUnits: 40n * USDC, payerAddress: STRANGER, depositAddress: DEPOSIT, txHash: HASH },
  ...{ blockHash: null, blockNumber: 10n, blockTime: at(second), logIndex: 0, generation: null, version: 1 },
})
const facts = (change: Partial<TransactionFacts> = {}): TransactionFacts => ({
  ...{ chain_id: 1, status: 'mined', depth: 2, block_time: at(500).toISOString(), transfers: [], payments: [] },
  ...change,
})
const sends = (to: string, token: string | null = TOKEN, units = 40n * USDC) =>
  facts({ transfers: [{ token_address: token?.toUpperCase().replace('0X', '0x') ?? null, to_address: to, units: String(units) }] })
const pays = (change: Partial<TransactionFacts['payments'][number]> = {}, more: Partial<TransactionFacts> = {}) => {
  const paid = { token_address: TOKEN, router_address: ROUTER, memo: MEMO, merchant_address: MERCHANT, units: '40000000', is_sweep: false }
  return facts({ payments: [{ ...paid, ...change }], ...more })
}
const other = { ...order(), id: 'other', merchantId: 'mine', memo: OTHER_MEMO, depositAddress: OTHER_DEPOSIT }

const place = {
  livemode: false,
  publicUrl: '',
  gaslessMinUnits: 0n,
  isSuspended: () => false,
  networks: new Map([[1, { network: 'Base', confirmations: REQUIRED, typicalSeconds: 10, isRelayed: true }]]),
}
const explained = (quoted: Partial<Quoted>) => {
  const found = explain({
    ...{ order: order(), payments: [], txHash: HASH, transaction: null, others: [], merchantId: null },
    ...{
      heads: new Map([
        [1, 12n],
        [2, 30n],
      ]),
      place,
      ...quoted,
    },
  })
  if (!found) return null
  const { object, order_id, tx_hash, detail, ...rest } = found
  expect({ object, order_id, tx_hash }).toEqual({ object: 'explanation', order_id: order().id, tx_hash: HASH })
  expect(detail).toMatch(/^[A-Z].*\.$/)
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))
}
const unconfirmed = (seen: number) => ({ code: 'unconfirmed', confirmations: { seen, required: REQUIRED } })
const amount = '40.000000'
const short = order({ status: 'underpaid', confirmedUnits: 40n * USDC, seenUnits: 40n * USDC })

describe('what is on record answers without the chain', () => {
  test.each<[string, Order, Payment, object]>([
    ['of a paid order', order({ status: 'paid' }), recorded('confirmed'), { code: 'settled', amount }],
    ['late, of an order that others paid', order({ status: 'paid' }), recorded('confirmed', 1_001), { code: 'settled', amount }],
    ['with more than is asked for', order({ status: 'paid', exception: 'overpaid' }), recorded('confirmed'), { code: 'settled', amount }],
    ['too little', short, recorded('confirmed'), { code: 'short', short_by: '60.000000', amount }],
    ['too little, expired', { ...short, status: 'expired' }, recorded('confirmed'), { code: 'short', short_by: '60.000000', amount }],
    [
      'in time, and the rest late',
      order({ status: 'expired', confirmedUnits: 100n * USDC }),
      recorded('confirmed'),
      { code: 'late', amount },
    ],
    ['after the order expired', order({ status: 'expired' }), recorded('confirmed', 1_001), { code: 'late', amount }],
    ['of a cancelled order', order({ status: 'cancelled' }), recorded('confirmed'), { code: 'late', amount }],
    ['detected', order(), recorded('detected'), { ...unconfirmed(3), amount }],
    ['detected, and late', order(), recorded('detected', 1_001), { code: 'late', amount }],
    ['detected in time, of an order that expired', order({ status: 'expired' }), recorded('detected'), { ...unconfirmed(3), amount }],
  ])('%s', (_, its, payment, expected) => expect(explained({ order: its, payments: [payment] })).toEqual(expected))

  test('what is orphaned, or not there, has to be asked of the nodes', () => {
    expect(explained({ payments: [recorded('orphaned')] })).toBeNull()
    expect(explained({ payments: [{ ...recorded('confirmed'), txHash: `0x${'6c'.repeat(32)}` }] })).toBeNull()
  })
})

describe('what nodes show', () => {
  test.each<[string, TransactionFacts, object, Partial<Order>?]>([
    ['nothing', facts({ status: 'not_found' }), { code: 'not_found' }],
    ['nothing on another chain', facts({ status: 'not_found', chain_id: 2 }), { code: 'not_found' }],
    ['a transaction of another chain', facts({ ...sends(DEPOSIT), chain_id: 2 }), { code: 'wrong_network' }],
    ['one that waits', facts({ status: 'pending' }), unconfirmed(0)],
    ['one that failed', facts({ status: 'reverted' }), { code: 'reverted' }],
    ['a payment by the router', pays(), { ...unconfirmed(2), amount }],
    ['a transfer', sends(DEPOSIT), { ...unconfirmed(2), amount }],
    ['a transfer in capitals', sends(DEPOSIT.toUpperCase().replace('0X', '0x')), { ...unconfirmed(2), amount }],
    ['one that is deep enough and on no record yet', facts({ ...sends(DEPOSIT), depth: 9 }), { ...unconfirmed(5), amount }],
    ['one that came too late', facts({ ...sends(DEPOSIT), block_time: at(1_001).toISOString() }), { code: 'late', amount }],
    ['one in time, of an expired order', sends(DEPOSIT), { ...unconfirmed(2), amount }, { status: 'expired' }],
    ['one of a cancelled order', sends(DEPOSIT), { code: 'late', amount }, { status: 'cancelled' }],
    ['a sweep', pays({ is_sweep: true }), unconfirmed(2)],
    ['a confirmed sweep', pays({ is_sweep: true }, { depth: 5 }), { code: 'settled' }, { status: 'paid' }],
    ['a confirmed sweep of too little', pays({ is_sweep: true }, { depth: 5 }), { code: 'short', short_by: '60.000000' }, short],
    [
      'a sweep of too little after the order expired',
      pays({ is_sweep: true }, { depth: 5, block_time: at(1_001).toISOString() }),
      { code: 'short', short_by: '60.000000' },
      { ...short, status: 'expired' },
    ],
    ['another token', sends(DEPOSIT, OTHER_TOKEN), { code: 'wrong_token', token_address: OTHER_TOKEN.toUpperCase().replace('0X', '0x') }],
    ["the network's coin", sends(DEPOSIT, null), { code: 'wrong_token' }],
    ['another token to a stranger', sends(STRANGER, OTHER_TOKEN), { code: 'wrong_recipient' }],
    ['a transfer to a stranger', sends(STRANGER), { code: 'wrong_recipient', recipient_address: STRANGER, amount }],
    [
      'a transfer of an order without an address',
      sends(DEPOSIT),
      { code: 'wrong_recipient', recipient_address: DEPOSIT, amount },
      { depositAddress: null },
    ],
    ['two recipients', facts({ transfers: [...sends(STRANGER).transfers, ...sends(ROUTER).transfers] }), { code: 'wrong_recipient' }],
    ['no transfer', facts(), { code: 'wrong_recipient' }],
    ['an unknown memo', pays({ memo: OTHER_MEMO }), { code: 'unknown_memo', amount }],
    [
      "the memo to a stranger's address",
      pays({ merchant_address: STRANGER }),
      { code: 'wrong_recipient', recipient_address: STRANGER, amount },
    ],
    ['the memo by another router', pays({ router_address: STRANGER }), { code: 'wrong_recipient', recipient_address: MERCHANT, amount }],
  ])('%s', (_, transaction, expected, change = {}) => expect(explained({ order: order(change), transaction })).toEqual(expected))

  test('of a payment to another order a payer learns no more than that, and a merchant the id of their own', () => {
    for (const transaction of [sends(OTHER_DEPOSIT), pays({ memo: OTHER_MEMO }), pays({ memo: OTHER_MEMO, is_sweep: true })]) {
      expect(explained({ transaction, others: [other] })).toEqual({ code: 'other_order' })
      expect(explained({ transaction, others: [other], merchantId: 'mine' })).toEqual({ code: 'other_order', other_order_id: 'other' })
      expect(explained({ transaction, others: [{ ...other, merchantId: 'theirs' }], merchantId: 'mine' })).toEqual({ code: 'other_order' })
    }
  })

  test('a payment that another order would not count is none of it, and one for both is for this one', () => {
    const elsewhere = { code: 'wrong_recipient', recipient_address: STRANGER, amount }
    expect(explained({ transaction: pays({ memo: OTHER_MEMO, merchant_address: STRANGER }), others: [other] })).toEqual(elsewhere)
    const both = facts({ transfers: [...sends(OTHER_DEPOSIT).transfers, ...sends(DEPOSIT).transfers] })
    expect(explained({ transaction: both, others: [other] })).toEqual({ ...unconfirmed(2), amount })
  })
})

describe('where several networks are followed', () => {
  const several = {
    ...place,
    networks: new Map([
      ...place.networks,
      [2, { network: 'Polygon', confirmations: 30, typicalSeconds: 60, isRelayed: true }],
      [3, { network: 'Arbitrum', confirmations: 40, typicalSeconds: 10, isRelayed: true }],
    ]),
  }
  const there = {
    chainId: 2,
    tokenAddress: OTHER_TOKEN,
    routerAddress: ROUTER,
    depositAddress: DEPOSIT,
    watchFrom: 0,
    merchantIsContract: false,
    isOffered: true,
  }
  const both = order({ networks: [there] })
  const polygon = { network: 'Polygon', chain_id: 2 }
  const asked = (transaction: TransactionFacts, more: Partial<Quoted> = {}) =>
    explained({ order: both, place: several, transaction, ...more })

  test('what is on record is counted by the blocks of its own', () => {
    const of = { order: both, place: several, payments: [{ ...recorded('detected'), id: '2:0xb:0' }] }
    expect(explained(of)).toEqual({ code: 'unconfirmed', confirmations: { seen: 21, required: 30 }, amount, ...polygon })
  })

  test('each has its own token, memos and confirmations', () => {
    const on = (facts: TransactionFacts, chain_id = 2) => ({ ...facts, chain_id })
    expect(asked(on(sends(DEPOSIT, OTHER_TOKEN)))).toEqual({
      code: 'unconfirmed',
      confirmations: { seen: 2, required: 30 },
      amount,
      ...polygon,
    })
    expect(asked(on(sends(DEPOSIT)))).toMatchObject({ code: 'wrong_token', ...polygon })
    expect(asked(sends(DEPOSIT))).toEqual({ ...unconfirmed(2), amount, network: 'Base', chain_id: 1 })
    expect(asked(on(pays({ token_address: OTHER_TOKEN })))).toMatchObject({ code: 'unconfirmed', amount, ...polygon })
    const others = [{ ...other, networks: [{ ...there, depositAddress: OTHER_DEPOSIT }] }]
    expect(asked(on(sends(OTHER_DEPOSIT, OTHER_TOKEN)), { others })).toEqual({ code: 'other_order', ...polygon })
    expect(asked(on(sends(OTHER_DEPOSIT, OTHER_TOKEN)), { others: [other] })).toMatchObject({ code: 'wrong_recipient', ...polygon })
  })

  test('one that the order is not paid on is the wrong one, and none has it where each has none', () => {
    expect(asked(facts({ ...sends(DEPOSIT), chain_id: 3 }))).toEqual({ code: 'wrong_network', network: 'Arbitrum', chain_id: 3 })
    expect(asked(facts({ ...sends(DEPOSIT), chain_id: 2 }), { order: order() })).toEqual({ code: 'wrong_network', ...polygon })
    const unoffered = { order: order({ networks: [{ ...there, isOffered: false }] }) }
    expect(asked(facts({ ...sends(DEPOSIT, OTHER_TOKEN), chain_id: 2 }), unoffered)).toEqual({ code: 'wrong_network', amount, ...polygon })
    expect(asked(facts({ ...sends(STRANGER, OTHER_TOKEN), chain_id: 2 }), unoffered)).toEqual({ code: 'wrong_network', ...polygon })
    const nowhere = explain({
      ...{ order: both, payments: [], txHash: HASH, transaction: facts({ status: 'not_found' }), others: [], merchantId: null },
      ...{ heads: new Map(), place: several },
    })
    expect(nowhere).toMatchObject({ code: 'not_found', detail: expect.stringContaining('is known on Base or Polygon;') })
    expect(nowhere).not.toHaveProperty('network')
  })
})
