import { CENT } from '@ponte/contracts'
import { leastPayment } from './least-payment'

it('is nothing for a hundred payments, then a cent, and doubles with every hundred', () => {
  expect([0, 99, 100, 199, 200, 1_100].map(leastPayment)).toEqual([0n, 0n, CENT, CENT, 2n * CENT, 1_024n * CENT])
})

it('keeping a payment out costs fifty times its amount at least', () => {
  let spent = 0n
  for (let count = 0; count < 2_000; count += 1) {
    const least = leastPayment(count)
    if (least > CENT) expect(spent).toBeGreaterThanOrEqual(50n * least)
    spent += least
  }
})
