import { depositAddress } from '@ponte/sdk'
import { type AuditEntry, type AuditOrder, type AuditTerms, type ChainFacts, compare } from './compare'

const address = (byte: string) => `0x${byte.repeat(20)}`
const hash = (byte: string) => `0x${byte.repeat(32)}`
const terms: AuditTerms = {
  chainId: 1,
  payouts: [address('aa')],
  routers: [address('bb')],
  token: address('cc'),
  from: 0,
  to: 100,
  directFrom: 0,
}
const memo = 'ab'.repeat(32)
const deposit = depositAddress({ router: address('bb'), memo, payoutAddress: address('aa') })
const order: AuditOrder = {
  ...{ id: 'order', memo },
  payment: {
    ...{
      chain_id: 1,
      router_address: address('bb'),
      token_address: address('cc'),
      merchant_address: address('aa'),
      deposit_address: deposit,
    },
  },
}
const place = (byte: string, blockNumber = 7, logIndex = 3) => ({ txHash: hash(byte), blockNumber, logIndex, blockHash: hash('f0') })
const routed = { ...place('01'), router: address('bb'), memo, merchant: address('aa'), payer: address('dd'), share: 99n, fee: 1n }
const share = { ...place('01', 7, 2), from: address('dd'), to: address('aa'), amount: 99n }
const transfer = { ...place('02'), from: address('dd'), to: deposit, amount: 200n }
const sweep = { ...routed, ...place('03', 9), payer: deposit, share: 198n, fee: 2n }
const swept = { ...place('03', 9, 2), from: deposit, to: address('aa'), amount: 198n }
const nothing: ChainFacts = { paid: [], deposited: [], received: [], sent: [] }

let sequence = 0
beforeEach(() => {
  sequence = 0
})
const entry = (kind: AuditEntry['kind'], amount: string, at: { txHash: string; blockNumber: number; logIndex: number }): AuditEntry => ({
  ...{ sequence: ++sequence, kind, amount, chain_id: 1, tx_hash: at.txHash, log_index: at.logIndex, block_number: at.blockNumber },
  ...{ address: null, payer_address: null, reverses: null },
})
const ofRouted = () => [entry('payment', '0.000100', routed), entry('fee', '0.000001', routed), entry('settled', '0.000099', routed)]
const kinds = (chain: Partial<ChainFacts>, entries: AuditEntry[], orders = [order], change: Partial<AuditTerms> = {}) =>
  compare({ ...nothing, ...chain }, entries, orders, { ...terms, ...change }).differences.map(({ kind }) => kind)

test('nothing against nothing, and a router payment against its three entries', () => {
  expect(kinds({}, [])).toEqual([])
  const { differences, sums, direct } = compare({ ...nothing, paid: [routed], received: [share] }, ofRouted(), [order], terms)
  expect([differences, direct, sums]).toEqual([
    [],
    [],
    { node: { came: 100n, fee: 1n, settled: 99n }, ledger: { came: 100n, fee: 1n, settled: 99n } },
  ])
})

test('what a reorganisation took back may name the block of before, and what only seems to be taken back may not', () => {
  const before = { ...routed, blockNumber: 6 }
  const first = [entry('payment', '0.000100', before), entry('fee', '0.000001', before), entry('settled', '0.000099', before)]
  const taken = first.map(one => ({ ...one, sequence: ++sequence, amount: `-${one.amount}`, reverses: one.sequence }))
  const chain = { paid: [routed], received: [share] }
  expect(kinds(chain, [...first, ...taken, ...ofRouted()])).toEqual([])
  sequence = 0
  const claimed = [entry('payment', '0.000100', before), entry('fee', '0.000001', routed), entry('settled', '0.000099', routed)]
  expect(kinds(chain, [...claimed, { ...entry('accepted', '0.000100', routed), reverses: 1 }])).toEqual(['other_block'])
})

test('a transfer counts when it comes, its sweep moves it on, and neither alone is enough', () => {
  const all = () => [entry('payment', '0.000200', transfer), entry('fee', '0.000002', sweep), entry('settled', '0.000198', sweep)]
  const chain = { deposited: [transfer], paid: [sweep], received: [swept] }
  expect(kinds(chain, all())).toEqual([])
  sequence = 0
  expect(kinds({ deposited: [transfer] }, all().slice(0, 1))).toEqual([])
  sequence = 0
  expect(kinds(chain, [entry('payment', '0.000200', transfer)])).toEqual(['missing_in_ledger'])
  sequence = 0
  expect(kinds({ ...chain, deposited: [] }, all())).toEqual(['not_on_chain'])
})

test('a sweep of an address that no order has is booked with what came, or its transfers are', () => {
  const chain = { deposited: [transfer], paid: [sweep], received: [swept] }
  const moved = () => [entry('fee', '0.000002', sweep), entry('settled', '0.000198', sweep)]
  expect(kinds(chain, [entry('unmatched', '0.000200', sweep), ...moved()], [])).toEqual([])
  sequence = 0
  expect(kinds(chain, [entry('unmatched', '0.000200', transfer), ...moved()], [])).toEqual([])
  sequence = 0
  expect(kinds(chain, moved(), [])).toEqual(['other_amount'])
})

test('what was taken back is as if it had never been booked', () => {
  const back = () => ofRouted().map(one => ({ ...one, sequence: one.sequence, amount: `-${one.amount}` }))
  expect(kinds({}, [...ofRouted(), ...back()])).toEqual([])
  sequence = 0
  expect(kinds({ paid: [routed], received: [share] }, [...ofRouted(), ...back()])).toEqual(['missing_in_ledger'])
  sequence = 0
  expect(kinds({ paid: [routed], received: [share] }, [...ofRouted(), ...back(), ...ofRouted()])).toEqual([])
})

test('what lies above the last block, or on another chain, is not judged', () => {
  const late = [entry('payment', '0.000100', { ...routed, blockNumber: 101 }), { ...entry('payment', '0.000100', routed), chain_id: 2 }]
  expect(compare(nothing, late, [order], terms)).toMatchObject({ differences: [], unchecked: 2 })
})

test.each<[string, Partial<AuditEntry>, string]>([
  ['amount', { amount: '0.000101' }, 'other_amount'],
  ['block', { block_number: 8 }, 'other_block'],
  ['payer', { payer_address: address('ee') }, 'other_payer'],
])('another %s is named', (_, change, kind) => {
  const [first, ...rest] = ofRouted()
  expect(kinds({ paid: [routed], received: [share] }, [{ ...(first as AuditEntry), ...change }, ...rest])).toEqual([kind])
})

test('a share that never reached the payout address is named, and each transfer serves for one', () => {
  expect(kinds({ paid: [routed] }, ofRouted())).toEqual(['not_received'])
  sequence = 0
  const twice = { ...routed, logIndex: 5 }
  const entries = [...ofRouted(), entry('payment', '0.000100', twice), entry('fee', '0.000001', twice), entry('settled', '0.000099', twice)]
  expect(kinds({ paid: [routed, twice], received: [share] }, entries)).toEqual(['not_received'])
})

test('a transfer past the routers has its entry, or is information before the block from which on they are compared', () => {
  const plain = { ...place('04'), from: address('dd'), to: address('aa'), amount: 5n }
  const booked = (change: Partial<AuditEntry> = {}) => [
    { ...entry('direct', '0.000005', plain), address: address('aa'), payer_address: address('dd'), ...change },
  ]
  expect(kinds({ received: [plain] }, [])).toEqual(['missing_in_ledger'])
  expect(compare({ ...nothing, received: [plain] }, [], [], { ...terms, directFrom: 8 })).toMatchObject({
    differences: [],
    direct: [plain],
  })
  expect(compare({ ...nothing, received: [plain] }, booked(), [], terms)).toMatchObject({
    ...{ differences: [], direct: [] },
    sums: { node: { came: 5n, settled: 5n }, ledger: { came: 5n, settled: 5n } },
  })
  for (const [change, kind] of [
    [{ amount: '0.000006' }, 'not_on_chain'],
    [{ block_number: 8 }, 'other_block'],
    [{ payer_address: address('ee') }, 'other_payer'],
    [{ address: address('ee') }, 'other_address'],
  ] as const) {
    sequence = 0
    expect(kinds({ received: [plain] }, booked(change))).toEqual([kind])
  }
})

test('a transfer that the server does not count any more is information, and any other one missing', () => {
  const plain = (byte: string, blockNumber: number, amount: bigint, to = address('aa')) => ({
    ...place(byte, blockNumber),
    ...{ from: address('dd'), to, amount },
  })
  const [before, first, second, booked] = [plain('04', 8, 5n), plain('05', 9, 7n), plain('06', 10, 8n), plain('07', 11, 9n)]
  const received = [before, first, second, booked, plain('08', 12, 4n, address('ab'))]
  const ended = { chain_id: 1, address: `0x${'AA'.repeat(20)}`, from_block: 9 }
  const found = (uncounted: Parameters<typeof compare>[4]) => {
    sequence = 0
    return compare({ ...nothing, received }, [entry('direct', '0.000009', booked)], [], terms, uncounted)
  }
  const missing = ({ differences }: ReturnType<typeof compare>) => differences.map(({ kind, tx_hash }) => [kind, tx_hash])
  expect(found([ended])).toMatchObject({
    ...{ direct: [], uncounted: [{ address: ended.address, from_block: 9, transfers: 2, amount: 15n }] },
    sums: { node: { came: 18n }, ledger: { came: 9n } },
  })
  expect(missing(found([ended]))).toEqual(['04', '08'].map(byte => ['missing_in_ledger', hash(byte)]))
  const all = ['04', '05', '06', '08'].map(byte => ['missing_in_ledger', hash(byte)])
  for (const other of [
    undefined,
    [],
    [{ ...ended, from_block: 13 }],
    [{ ...ended, chain_id: 2 }],
    [{ ...ended, address: address('ac') }],
  ]) {
    expect(missing(found(other))).toEqual(all)
    expect(found(other)).toMatchObject({ uncounted: [] })
  }
})

test('of equal transfers in a transaction the last one before the router`s log is its share; a share, a fee and what went nowhere are no transfer past it', () => {
  const first = { ...share, logIndex: 1 }
  const chain = { paid: [routed], received: [first, share] }
  expect(kinds(chain, [entry('direct', '0.000099', first), ...ofRouted()])).toEqual([])
  sequence = 0
  expect(kinds(chain, [entry('direct', '0.000099', share), ...ofRouted()])).toEqual(['not_on_chain', 'missing_in_ledger'])
  sequence = 0
  const [fee, own] = [
    { ...share, logIndex: 1, amount: 1n },
    { ...place('06'), from: address('aa'), to: address('aa'), amount: 4n },
  ]
  expect(kinds({ paid: [routed], received: [fee, share, own] }, ofRouted())).toEqual([])
})

test('a return is the transfer right behind the use of its signature', () => {
  const sent = { ...place('05', 7, 4), from: address('aa'), to: address('dd'), amount: 50n }
  const returned = () => ({ ...entry('returned', '0.000050', place('05')), address: address('dd') })
  expect(kinds({ sent: [sent] }, [returned()])).toEqual([])
  for (const [other, kind] of [
    [{ ...sent, to: address('ee') }, 'not_on_chain'],
    [{ ...sent, logIndex: 9 }, 'not_on_chain'],
    [{ ...sent, amount: 51n }, 'other_amount'],
  ] as const) {
    sequence = 0
    expect(kinds({ sent: [other] }, [returned()])).toEqual([kind])
  }
})

test('an order that would have its payer pay elsewhere is named, and a gap in the ledger', () => {
  const other = (change: Partial<AuditOrder['payment']>) => [{ ...order, payment: { ...order.payment, ...change } }]
  for (const name of ['deposit_address', 'merchant_address', 'router_address', 'token_address'] as const)
    expect(kinds({}, [], other({ [name]: address('ee') }))).toEqual(['other_address'])
  expect(kinds({}, [], other({ deposit_address: null }))).toEqual([])
  const { chain_id, router_address, token_address } = order.payment
  const there = { chain_id, router_address, token_address, deposit_address: deposit }
  const onThis = (change: Partial<typeof there & { merchant_address: string }>) =>
    other({
      chain_id: 2,
      networks: [
        { ...there, chain_id: 2 },
        { ...there, ...change },
      ],
    })
  expect(kinds({}, [], onThis({}))).toEqual([])
  // Paid out elsewhere on this network, and to another deposit address.
  const own = {
    merchant_address: address('a2'),
    deposit_address: depositAddress({ router: address('bb'), memo, payoutAddress: address('a2') }),
  }
  expect(kinds({}, [], onThis(own), { payouts: [address('aa'), address('a2')] })).toEqual([])
  expect(kinds({}, [], onThis(own))).toEqual(['other_address'])
  for (const name of ['deposit_address', 'router_address', 'token_address'] as const)
    expect(kinds({}, [], onThis({ [name]: address('ee') }))).toEqual(['other_address'])
  expect(
    kinds(
      { paid: [routed], received: [share] },
      ofRouted().map(one => ({ ...one, sequence: one.sequence + 1 })),
    ),
  ).toEqual(['gap'])
})
