import { inBatches, LONG_MS, orderRuns, SAMPLES, SEED } from '../long-runs'
import { payoutDifference, payoutTraces } from '../payout-traces'
import { periodDifference, periodTraces } from '../period-traces'
import { refundDifference, refundTraces } from '../refund-traces'
import { difference } from '../replay'

describe(`${SAMPLES} runs of seed ${SEED} differ after no step from the rules`, () => {
  let steps = 0
  beforeEach(() => {
    steps = 0
  })
  afterEach(() => console.log(`${expect.getState().currentTestName}: ${steps} steps`))

  const replays = <T extends { length: number }>(
    sampled: (count: number, seed: number) => Promise<T[]>,
    differenceOf: (run: T) => string | null,
  ) =>
    inBatches(sampled, runs => {
      for (const run of runs) {
        expect(differenceOf(run)).toBeNull()
        steps += run.length - 1
      }
    })

  test(
    'of orders: spec/order.qnt',
    () =>
      inBatches(orderRuns, async traces => {
        for (const trace of traces) {
          expect(await difference(trace)).toBeNull()
          steps += trace.steps.length
        }
      }),
    LONG_MS,
  )
  test('of refunds: spec/refunds.qnt', () => replays(refundTraces, run => refundDifference(run)), LONG_MS)
  test(
    'of plans: spec/period.qnt',
    () =>
      replays(
        (count, seed) => periodTraces(count, seed),
        run => periodDifference(run),
      ),
    LONG_MS,
  )
  test('of owners and payout addresses: spec/payout.qnt', () => replays(payoutTraces, run => payoutDifference(run)), LONG_MS)
})
