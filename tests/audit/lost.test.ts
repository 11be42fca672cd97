import { forgottenBy, lostOrders } from './lost'

/** Made 1 s after 2026-11-22T14:00:00Z, and an hour later. */
const [inside, after] = ['01a2038e-9be8-7000-8000-000000000001', '01a203c5-89e8-7000-8000-000000000002']
const from = new Date('2026-11-22T14:00:00.000Z')
const payable = (order_id: string, memo: string) => ({ order_id, memo, merchant_id: 'm', asked_units: '1500000' })

it('orders of a forgotten span are named with what came for them; any other that is missing is not', () => {
  const madeAt = new Date(Number.parseInt(inside.replace('-', '').slice(0, 12), 16))
  const isForgotten = forgottenBy([{ from: new Date(madeAt.getTime() - 1_000), until: new Date(madeAt.getTime() + 1_000) }])
  const unmatched = [
    { memo: 'aa', status: 'confirmed', gross_units: '1000000', exact_units: null },
    { memo: 'aa', status: 'detected', gross_units: '0', exact_units: '250000' },
    { memo: 'aa', status: 'orphaned', gross_units: '9000000', exact_units: null },
  ]
  const payables = [payable(inside, 'aa'), payable(after, 'bb')]
  expect(lostOrders({ payables, orders: [], unmatched }, isForgotten)).toEqual([
    { id: inside, merchant: 'm', madeAt, asked: '1.500000', paid: '1.250000' },
  ])
  expect(lostOrders({ payables, orders: [{ id: inside }], unmatched }, isForgotten)).toEqual([])
  expect(forgottenBy([{ from, until: from }])(after)).toBe(false)
})
