import { dueEntries, type EntryBooks, entryDifferences } from './entries'
import type { Row } from './rows'

const [ROUTER, TOKEN, SHOP, OTHER] = ['0xaa', '0xbb', '0xcc', '0xdd']
const NONE = '0'.repeat(64)
const time = (second: number) => new Date(Date.UTC(2026, 10, 20, 12, 0, second)).toISOString()
const order = (more: Row = {}): Row => ({
  ...{ id: 'o1', merchant_id: 'm1', memo: 'a1', chain_id: 1, router_address: '0xAA', token_address: TOKEN, merchant_address: '0xCC' },
  ...{ fee_bps: 100, rate_micros: '5000000', usdc_units: '1000000', confirmed_units: '1000000', status: 'paid' },
  ...{ accepted_at: null, accepted_reason: null, superseded_at: null, ...more },
})
const seen = (log: number, more: Row): Row => ({
  ...{
    chain_id: '1',
    block_hash: '0xb',
    block_number: '7',
    block_time: time(log),
    log_index: log,
    tx_hash: `0x${log}`,
    state: 'confirmed',
  },
  ...{ kind: 'router', router: ROUTER, memo: 'a1', merchant: SHOP, payer: '0xee', deposit: null, amount: '1000000', fee: '10000', ...more },
})
const nothing: EntryBooks = {
  ...{
    ledger: [],
    retired: new Set(),
    networks: new Map([['1', { generation: 'g', token: TOKEN }]]),
    orders: [order()],
    attachments: [],
    unmatched: [],
    sweeps: [],
    refunds: [],
    entries: [],
  },
  ...{ ledgers: [], quarterSums: [], daySums: [], closes: [{ through: null }] },
  payoutAddresses: [{ merchant_id: 'm1', merchant_version: 1, payout_address: '0xCC', since: time(0) }],
}
const dueOf = (more: Partial<EntryBooks>) =>
  dueEntries({ ...nothing, ...more }).map(({ merchant, kind, units, brl, address, reason }) => [
    merchant,
    kind,
    units,
    brl,
    address,
    reason,
  ])

describe('entries that are due', () => {
  it('are what came, the fee and the rest of a payment through the router, and what came of a transfer', () => {
    const transfer = seen(2, { kind: 'transfer', fee: null, deposit: '0xD1', amount: '500001' })
    const parts = [
      ['m1', 'payment', 1_000_000n, 500n, null, null],
      ['m1', 'fee', 10_000n, 5n, null, null],
      ['m1', 'settled', 990_000n, 495n, '0xcc', null],
    ]
    expect(dueOf({ ledger: [seen(1, {}), transfer] })).toEqual([...parts, ['m1', 'payment', 500_001n, 250n, '0xd1', null]])
    expect(dueOf({ ledger: [seen(1, { state: 'detected' }), seen(2, { state: 'orphaned' })] })).toEqual([])
  })

  it('count a sweep with the fee of its log, and as what came where no order and no transfer of its address is known', () => {
    const sweep = seen(3, { kind: 'sweep', payer: '0xD1', fee: '0' })
    expect(dueOf({ ledger: [sweep] })).toEqual([['m1', 'settled', 1_000_000n, 500n, '0xcc', null]])
    const stray = { ...sweep, memo: 'ff' }
    expect(dueOf({ ledger: [stray] })).toEqual([
      ['m1', 'unmatched', 1_000_000n, null, '0xd1', 'unknown_memo'],
      ['m1', 'settled', 1_000_000n, null, '0xcc', 'unknown_memo'],
    ])
    const came = seen(2, { kind: 'transfer', fee: null, deposit: '0xd1', memo: 'ff' })
    expect(dueOf({ ledger: [came, stray] }).map(([, kind]) => kind)).toEqual(['unmatched', 'settled'])
  })

  it("are the merchant's whose payout address it was at the block's time, and of all who shared it", () => {
    const direct = (log: number) => seen(log, { kind: 'transfer', fee: null, memo: NONE, deposit: SHOP, router: '0x00', amount: '7' })
    const payoutAddresses = [
      { merchant_id: 'm1', merchant_version: 1, payout_address: '0xCC', since: time(2) },
      { merchant_id: 'm1', merchant_version: 2, payout_address: OTHER, since: time(5) },
      // The time of a block has no parts of a second.
      { merchant_id: 'm2', merchant_version: 1, payout_address: SHOP, since: time(4).replace('.000Z', '.700Z') },
    ]
    const owners = (log: number) => dueOf({ ledger: [direct(log)], payoutAddresses }).map(([merchant, kind]) => [merchant, kind])
    expect([1, 2, 4, 5].map(owners)).toEqual([
      [],
      [['m1', 'direct']],
      [
        ['m1', 'direct'],
        ['m2', 'direct'],
      ],
      [['m2', 'direct']],
    ])
  })

  it("are also the merchant's of the order that they name, and theirs from the second in which the address was named", () => {
    const elsewhere = seen(3, { chain_id: '2', kind: 'transfer', fee: null, deposit: '0xd1' })
    const unmatched = [{ id: '2:0xb:3', reason: 'wrong_chain' }]
    const moved = [{ merchant_id: 'm1', merchant_version: 2, payout_address: OTHER, since: time(0) }]
    const owners = (more: Partial<EntryBooks>) => dueOf({ unmatched, ...more }).map(([merchant, kind]) => [merchant, kind])
    expect(owners({ ledger: [elsewhere], payoutAddresses: moved })).toEqual([['m1', 'unmatched']])
    expect(owners({ ledger: [{ ...elsewhere, merchant: OTHER }], payoutAddresses: [] })).toEqual([])
    const direct = seen(2, { kind: 'transfer', fee: null, memo: NONE, deposit: SHOP, router: '0x00', amount: '7' })
    const since = new Date(Date.parse(time(2)) + 900).toISOString()
    const named = [{ merchant_id: 'm1', merchant_version: 1, payout_address: SHOP, since }]
    expect(owners({ ledger: [direct], payoutAddresses: named })).toEqual([['m1', 'direct']])
  })

  it('are for the order that a payment was attached to, and nothing for an amount beyond all money', () => {
    const stray = seen(1, { memo: 'ff', kind: 'transfer', fee: null, deposit: '0xd1' })
    expect(dueOf({ ledger: [stray], attachments: [{ payment_id: '1:0xb:1', order_id: 'o1' }] })).toEqual([
      ['m1', 'payment', 1_000_000n, 500n, '0xd1', null],
    ])
    expect(dueOf({ ledger: [{ ...stray, amount: String(2n ** 63n) }] })).toEqual([])
  })

  it('name what was given away beside the last payment, and what went back', () => {
    const short = order({ confirmed_units: '900000', accepted_at: time(9), accepted_reason: 'enough' })
    const late = seen(4, { amount: '400000', fee: '4000' })
    const due = dueEntries({ ...nothing, orders: [short], ledger: [late, seen(1, { amount: '500000', fee: '5000' })] })
    expect(due.filter(({ kind }) => kind === 'accepted')).toEqual([
      expect.objectContaining({ units: 100_000n, brl: 50n, tx: '0x4', log: 4, reason: 'enough' }),
    ])
    expect(dueOf({ orders: [order({ confirmed_units: '990000' })], ledger: [late] }).map(([, kind]) => kind)).not.toContain('accepted')
    const refund = { ...seen(8, {}), order_id: 'o1', merchant_id: 'm1', ended: 'transferred', units: '3', payee: '0xEE', reason: 'back' }
    expect(dueOf({ refunds: [refund] })).toEqual([['m1', 'returned', 3n, 0n, '0xee', 'back']])
  })
})

describe('a ledger', () => {
  const ledger = [seen(1, {})]
  const good = (): EntryBooks => {
    const entries = dueEntries({ ...nothing, ledger }).map((due, index) => ({
      ...{
        merchant_id: due.merchant,
        sequence: String(index + 1),
        kind: due.kind,
        units: String(due.units),
        brl_centavos: String(due.brl),
      },
      ...{ order_id: due.order, reverses: null, chain_id: 1, tx_hash: due.tx, log_index: due.log, block_number: due.block },
      ...{ at: time(1), block_time: time(1), booked_at: time(30), payer_address: due.payer, address: due.address, reason: due.reason },
    }))
    const sums = (column: string, from: string) =>
      entries.map(({ merchant_id, kind, units, brl_centavos }) => ({
        merchant_id,
        [column]: from,
        kind,
        movements: 1,
        units,
        brl_centavos,
      }))
    return {
      ...{ ...nothing, ledger, entries, ledgers: [{ merchant_id: 'm1', sequence: '3' }] },
      ...{ quarterSums: sums('quarter', '2026-11-20T12:00:00Z'), daySums: sums('day', '2026-11-20T00:00:00Z') },
    }
  }
  const changed = (index: number, more: Row): EntryBooks => {
    const books = good()
    return { ...books, entries: books.entries.map((row, at) => (at === index ? { ...row, ...more } : row)) }
  }

  it('agrees with its payments, and each lie in it is named', () => {
    expect(entryDifferences(good())).toEqual([])
    const lies: [string, EntryBooks][] = [
      ['lacks payment', { ...good(), entries: good().entries.slice(1) }],
      ['units', changed(0, { units: '1000001' })],
      ['not to zero', changed(0, { units: '1000001' })],
      ['brl_centavos', changed(2, { brl_centavos: '494' })],
      ['founded on nothing', changed(0, { kind: 'unmatched' })],
      ['founded on nothing', changed(0, { merchant_id: 'm2' })],
      ['address', changed(2, { address: OTHER })],
      ['counts at', changed(0, { at: time(2) })],
      ['has number', changed(2, { sequence: '4' })],
      ['are counted', { ...good(), ledgers: [{ merchant_id: 'm1', sequence: '4' }] }],
      ['lacks fee', changed(1, { reverses: '1' })],
      ['entry_sums', { ...good(), quarterSums: good().quarterSums.slice(1) }],
      ['entry_day_sums', { ...good(), daySums: good().daySums.map(row => ({ ...row, units: '1' })) }],
    ]
    for (const [name, books] of lies)
      expect([name, entryDifferences(books)]).toEqual([name, expect.arrayContaining([expect.stringContaining(name)])])
  })

  it('takes back what is gone by its opposite, once', () => {
    const books = good()
    const back = books.entries.map((row, index) => ({
      ...row,
      ...{ sequence: String(index + 4), reverses: row.sequence, units: `-${row.units}`, brl_centavos: `-${row.brl_centavos}` },
    }))
    const gone: EntryBooks = {
      ...{ ...books, ledger: [], entries: [...books.entries, ...back], ledgers: [{ merchant_id: 'm1', sequence: '6' }] },
      ...{ quarterSums: [], daySums: [] },
    }
    expect(entryDifferences(gone)).toEqual([])
    const lies = (more: Row) =>
      entryDifferences({ ...gone, entries: [...books.entries, ...back.slice(0, -1), { ...back.at(-1), ...more }] })
    expect(lies({ units: '-1' })).not.toEqual([])
    expect(lies({ reverses: '2' })).toEqual(expect.arrayContaining([expect.stringContaining('once more')]))
  })

  it('counts what came of a closed month when it was booked, and nothing else later than its block', () => {
    const late = { booked_at: '2026-12-03T00:00:00Z', at: '2026-12-03T00:00:00Z' }
    const books = { ...good(), entries: good().entries.map(row => ({ ...row, ...late })) }
    const at = (through: string) => entryDifferences({ ...books, closes: [{ through }] }).filter(each => each.startsWith('at: '))
    expect(at('2026-12-01T03:00:00Z')).toEqual([])
    expect(at('2026-11-01T03:00:00Z')).toHaveLength(3)
  })
})
