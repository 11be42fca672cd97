import { advanceTestClock, fundTestAddress, payTestOrder, simulateTestOrder } from '../api/testing'
import { byEither, owned } from './operation'

const reads = { owner: 'sandbox', permission: 'orders:read', tag: 'Tests' } as const
// Not idempotent: each request makes transactions of its own, which the answer names.
const acts = { owner: 'sandbox', permission: 'orders:write', tag: 'Tests', keyed: false } as const

/** On a chain whose money is worth nothing. A deployment without such a chain of its own has none of these paths: 404. */
export const testing = {
  fundTestAddress: byEither('post', '/test/faucet', {
    ...{ ...acts, summary: 'Give an address USDC of the test chain', body: fundTestAddress, answers: { 200: 'TestFunding' } },
    description: 'For tests alone: where money is real this path is not there.',
    example: { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', amount: '100.00' },
  }),
  payTestOrder: byEither('post', '/test/orders/:id/pay', {
    ...{ ...acts, summary: 'Pay an order as a sample payer', body: payTestOrder, answers: { 200: 'TestPayments' } },
    description: 'By a real transaction of the test chain. It answers once the payment is seen, or the signature taken.',
    example: { via: 'transfer' },
    errors: [...owned, 'invalid_state'],
  }),
  listTestScenarios: byEither('get', '/test/scenarios', {
    ...{ ...reads, summary: 'List what can be simulated', answers: { 200: 'TestScenarioList' } },
    description: 'Each with the events to expect and the status that the order is left in.',
  }),
  simulateTestOrder: byEither('post', '/test/orders/:id/simulate', {
    ...{ ...acts, summary: 'Have something go wrong with an order', body: simulateTestOrder, answers: { 200: 'TestSimulation' } },
    description:
      'Nothing is written for it but transactions of the test chain: the order, its webhooks and its page show what they would show of the same with real ' +
      'money. The answer says what to expect. `late` moves the clock past the order’s end where that is more than a few seconds away; `slow_node`, `halted` and `no_rate` hold for everyone, and end by themselves.',
    example: { scenario: 'underpaid' },
    errors: [...owned, 'invalid_state'],
  }),
  getTestClock: byEither('get', '/test/clock', {
    ...{ ...reads, summary: 'Read the clock of the test deployment', answers: { 200: 'TestClock' } },
  }),
  advanceTestClock: byEither('post', '/test/clock', {
    ...{ ...acts, summary: 'Move the clock forward', body: advanceTestClock, answers: { 200: 'TestClock', 202: 'TestClock' } },
    description:
      'One clock for the chain, orders and plans; deliveries that wait are tried that much earlier. It moves from one thing that is due to the next, at most two ' +
      'years at once, never back, and for every merchant. 202 while it is moving: ask `GET /test/clock` until `target` is null. Logins and waits of the account stay with the real time.',
    example: { advance: 'P1M' },
    errors: ['invalid_state'],
  }),
} as const
