import type { Payment } from '../payment/payment'
import { open } from './new-order'
import type { Known, Ledger } from './order'
import { receivePayments } from './progress'
import { tallyOf } from './tally'
import { requiredUnits } from './verdict'

const at = new Date('2026-01-01T00:00:00.000Z')
const chain = { time: null }
const USDC = 1_000_000n

const ledger = (subscriptionId: string | null, ...payments: Payment[]): Ledger & Known => {
  const terms = { merchant_id: '01981f3c-0000-7000-8000-000000000001', version: 3, display_name: 'Padaria', payout_address: '0x01' }
  const named = { id: '01981f3c-0000-7000-8000-000000000002', memo: 'ab'.repeat(32), externalRef: null, description: null, metadata: {} }
  const order = open(
    { ...named, terms, subscriptionId, brlCentavos: 10_000_00n, expiresAt: new Date('2026-01-02T00:00:00.000Z') },
    { rateMicros: 100_000_000n, source: 'static', asOf: at, spreadBps: 0 },
    { chainId: 1, tokenAddress: '0x02', routerAddress: '0x03', feeBps: 0n, tolerance: { defaultUnits: 10_000n, maxUnits: 5_000_000n } },
    at,
  )
  const tally = tallyOf(payments, requiredUnits(order))
  return { order: { ...order, ...tally, depositAddress: '0x04' }, payments, isAll: true, isWatched: true }
}
const payment = (status: Payment['status'], revision: number): Payment => ({
  ...{
    id: '1:0xaa:0',
    kind: 'transfer',
    version: revision,
    generation: null,
    blockHash: '0xb1',
    status,
    grossUnits: 40n * USDC,
    payerAddress: '0x09',
    depositAddress: '0x04',
  },
  ...{ txHash: '0xaa', blockNumber: 1n, blockTime: at, logIndex: 0 },
})
const updates = (before: Ledger & Known, next: Payment) =>
  (receivePayments(before, [next], chain, at)?.events ?? []).flatMap(event => (event.type === 'order.updated' ? [event.data] : []))

describe('a payment for the order of a subscription', () => {
  const SUBSCRIPTION = '01981f3c-0000-7000-8000-000000000003'

  it('publishes what the order shows from now on, also while it is not confirmed, and again when it is taken away', () => {
    const before = ledger(SUBSCRIPTION)
    const [detected] = updates(before, payment('detected', 1))
    expect(detected).toMatchObject({ order_id: before.order.id, subscription_id: SUBSCRIPTION, revision: 1 })
    expect(detected?.state).toMatchObject({
      status: 'pending',
      received: '0.000000',
      payment_uri: expect.stringContaining('uint256=60000000'),
    })
    const [confirmed] = updates(ledger(SUBSCRIPTION, payment('detected', 1)), payment('confirmed', 2))
    expect(confirmed?.state).toMatchObject({ status: 'underpaid', received: '40.000000', tx_hash: '0xaa' })
    const [orphaned] = updates(ledger(SUBSCRIPTION, payment('detected', 1)), payment('orphaned', 2))
    expect(orphaned?.state).toMatchObject({ status: 'pending', payment_uri: expect.stringContaining('uint256=100000000') })
  })

  it('publishes nothing when nothing looks different, nor for an order of its own', () => {
    expect(updates(ledger(SUBSCRIPTION, payment('detected', 1)), payment('detected', 1))).toEqual([])
    expect(updates(ledger(null), payment('confirmed', 1))).toEqual([])
  })
})
