import { accountRules } from '@ponte/api-gateway'
import { refundRules } from '@ponte/orders'
import { subscriptionRules } from '@ponte/subscriptions'
import { replayIntoServices } from './long-runs'
import { payoutDifference, payoutTraces } from './payout-traces'
import { periodDifference, periodTraces } from './period-traces'
import { refundDifference, refundTraces } from './refund-traces'
import { difference } from './replay'
import { replayedOrderFaults, replayedPayoutFaults, replayedPeriodFaults } from './replay-faults'
import { startRunning } from './running'
import { startRunningPlans } from './running-plans'
import { type Trace, traces } from './traces'

/** `npm run spec` replays a thousand, into the running service on both buses too. */
const TRACES = 50
const IN_SERVICE = 4
/** A run of plans takes seconds: its service looks after every step. */
const PLANS_IN_SERVICE = 1

let all: Trace[]
let shallow: Trace[]
beforeAll(async () => {
  const each = await Promise.all([traces(TRACES / 2, 1), traces(TRACES / 2, 1, 'step')])
  shallow = each[0]
  // One of each in turn, so that a part of them has both.
  all = each[0].flatMap((trace, index) => [trace, ...each[1].slice(index, index + 1)])
}, 240_000)

test(`${TRACES} runs of spec/order.qnt differ after no step from the rules of orders`, async () => {
  for (const trace of all) {
    expect(await difference(trace)).toBeNull()
  }
  expect(all.reduce((sum, trace) => sum + trace.steps.length, 0)).toBeGreaterThan(TRACES)
})

test.each(Object.entries(replayedOrderFaults))('of them some differ where this is put back: %s', async (_, rules) => {
  for (const trace of all.filter(({ second }) => second !== null)) if ((await difference(trace, rules)) !== null) return
  throw new Error('no run differs')
})

test.each(['memory', 'rabbitmq'] as const)(
  `${IN_SERVICE} of them, and ${PLANS_IN_SERVICE} of spec/period.qnt, differ after no step from the running services, over %s`,
  async kind => {
    const isMemory = kind === 'memory'
    const few = (samples: number) => ({ samples, services: 2 })
    await replayIntoServices(
      `orders over ${kind}`,
      () => startRunning(kind),
      async () => (isMemory ? all.slice(0, IN_SERVICE) : all.slice(-IN_SERVICE)),
      few(IN_SERVICE),
    )
    await replayIntoServices(
      `plans over ${kind}`,
      () => startRunningPlans(kind),
      count => periodTraces(count, isMemory ? 1 : 2, 'served'),
      few(PLANS_IN_SERVICE),
    )
  },
  240_000,
)

test(`${TRACES} runs of spec/refunds.qnt differ after no step from the rules of refunds, and from the rule that pays twice they do`, async () => {
  const runs = await refundTraces(TRACES, 1)
  for (const run of runs) expect(refundDifference(run)).toBeNull()
  // As if our clock, an hour ahead, ended what was signed.
  const late = (view: refundRules.RefundView) => ({ ...view, chain: { time: new Date(Date.UTC(2026, 0, 1, 1)) } })
  const byOurClock: typeof refundRules = {
    ...refundRules,
    redirectRefund: (refund, payee, view) => refundRules.redirectRefund(refund, payee, late(view)),
  }
  expect(runs.map(run => refundDifference(run, byOurClock)).join('\n')).toContain('the model refuses it, and the rules take it')
}, 240_000)

test.each([
  [
    'plans',
    'period',
    async () => (await periodTraces(TRACES, 1)).map(run => (rules: object) => periodDifference(run, { ...subscriptionRules, ...rules })),
    replayedPeriodFaults,
  ],
  [
    'owners and payout addresses',
    'payout',
    async () => (await payoutTraces(TRACES, 1)).map(run => (rules: object) => payoutDifference(run, { ...accountRules, ...rules })),
    replayedPayoutFaults,
  ],
] as const)(
  `${TRACES} runs differ after no step from the rules of %s, and with each fault put back they do: spec/%s.qnt`,
  async (_, __, played, faults) => {
    const runs = await played()
    expect(runs.map(run => run({})).filter(one => one !== null)).toEqual([])
    const found = Object.entries(faults).map(([name, rules]) => [name, runs.some(run => run(rules) !== null)])
    expect(found).toEqual(Object.keys(faults).map(name => [name, true]))
  },
  240_000,
)

test('runs of neighbouring seeds are others', async () => {
  const runs = [...shallow, ...(await traces(TRACES / 5, 2))].map(({ messages, steps }) => JSON.stringify([messages, steps]))
  expect(new Set(runs).size).toBe(runs.length)
})
