import { stateDifferences } from './orders'

const at = (second: number) => new Date(second * 1_000).toISOString()
const payment = (tx: string, block: number, status = 'confirmed', revision = 2) => ({
  ...{ kind: 'router', status, revision, tx_hash: tx, gross_units: '100000000', payer_address: '0x09', deposit_address: null },
  ...{ block_number: String(block), block_time: at(block), log_index: 0 },
})
const order = (is: Record<string, unknown>) => ({
  ...{
    id: 'o',
    usdc_units: '100000000',
    tolerance_units: '10000',
    fee_bps: 100,
    expires_at: at(1_000),
    deposit_address: null,
    status: 'paid',
    exception: null,
  },
  ...{
    cancelled_at: null,
    accepted_at: null,
    accepted_units: '0',
    superseded_at: null,
    paid_at: at(50),
    tx_hash: '0xb',
    confirmed_units: '100000000',
    ...is,
  },
})
const confirmed = { block: 100, time: 100 }
const of = (is: Record<string, unknown>, payments: ReturnType<typeof payment>[]) =>
  stateDifferences({ order: order(is), payments, sweeps: [], confirmed })

describe('the transaction of an order', () => {
  it('that was paid stays the one that order.paid named while it stands, whatever lies before it in the chain', () => {
    const both = { exception: 'duplicate', confirmed_units: '200000000' }
    expect(of(both, [payment('0xa', 10), payment('0xb', 20)])).toEqual([])
    expect(of({ ...both, tx_hash: '0xa' }, [payment('0xa', 10), payment('0xb', 20)])).toEqual([])
    expect(of({ ...both, tx_hash: '0xc' }, [payment('0xa', 10), payment('0xb', 20)])).toHaveLength(1)
    expect(of({ tx_hash: '0xa' }, [payment('0xa', 10), payment('0xb', 20, 'orphaned', 3)])).toEqual([])
    expect(of({}, [payment('0xa', 10), payment('0xb', 20, 'orphaned', 3)])).toHaveLength(1)
  })
  it('whose payment a reorganisation took away for good is the one it had', () => {
    const gone = { status: 'pending', exception: 'reorged', confirmed_units: '0' }
    expect(of(gone, [payment('0xb', 20, 'orphaned', 3)])).toEqual([])
    expect(of({ ...gone, tx_hash: '0xa' }, [payment('0xb', 20, 'orphaned', 3)])).toHaveLength(1)
  })
  it('that was never paid is that of its last confirmed payment', () => {
    const short = { status: 'expired', paid_at: null, expires_at: at(15), exception: 'paid_late' }
    expect(of(short, [payment('0xb', 20)])).toEqual([])
    expect(of({ ...short, tx_hash: null }, [payment('0xb', 20)])).toHaveLength(1)
  })
})
