import { z } from 'zod'
import { address, id, timestamp, txHash, usdcAmount } from '../fields'
import { webhookType } from '../webhook'
import { orderStatus } from './order'

// Of deployments for tests alone: what payers and networks do, on a chain whose money is worth nothing.

const usdc = z
  .string()
  .regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be USDC below 1,000,000 with at most six decimals')
  .refine(text => /[1-9]/.test(text), 'must be above zero')

export const fundTestAddress = z.strictObject({ address, amount: usdc })
export type FundTestAddress = z.infer<typeof fundTestAddress>

export const testFunding = z.object({ object: z.literal('test_funding'), address, amount: usdcAmount, tx_hash: txHash })

export const paidVia = z.enum(['transfer', 'exchange', 'router', 'signature']).meta({
  description: 'A plain transfer of a wallet, or of an exchange; a payment through the router; or a signature that the platform submits',
})

export const payTestOrder = z.strictObject({
  amount: usdc.optional().meta({ description: 'What is due by default' }),
  via: paidVia.default('transfer'),
})
export type PayTestOrder = z.input<typeof payTestOrder>

export const testScenarioName = z.enum([
  'underpaid',
  'overpaid',
  'halves',
  'duplicate',
  'late',
  'after_cancel',
  'wrong_token',
  'reorganised',
  'slow_node',
  'halted',
  'blocked',
  'no_rate',
])
export type TestScenarioName = z.infer<typeof testScenarioName>

export const simulateTestOrder = z.strictObject({
  scenario: testScenarioName,
  seconds: z
    .int()
    .min(1)
    .max(120)
    .optional()
    .meta({ description: 'How long `slow_node`, `halted` and `no_rate` last; each has a default' }),
})
export type SimulateTestOrder = z.infer<typeof simulateTestOrder>

const sent = z.array(z.object({ tx_hash: txHash, amount: usdcAmount, via: paidVia }))

export const testPayments = z.object({
  object: z.literal('test_payments'),
  order_id: id,
  payments: sent.meta({ description: 'Transactions of the chain; of a signature, the one that submitted it' }),
})
export type TestPaymentsBody = z.infer<typeof testPayments>

export const testScenario = z.object({
  scenario: testScenarioName,
  description: z.string(),
  expects: z.object({
    events: z.array(webhookType).meta({ description: 'Of the order, in this order' }),
    status: orderStatus.meta({ description: 'Of the order, once it is over' }),
  }),
})
export const testScenarioList = z.object({ object: z.literal('list'), data: z.array(testScenario) })
export type TestScenarioList = z.infer<typeof testScenarioList>

export const testSimulation = testScenario.extend({
  object: z.literal('test_simulation'),
  order_id: id,
  payments: sent,
  until: timestamp.nullable().meta({ description: 'When what lasts is over' }),
})
export type TestSimulationBody = z.infer<typeof testSimulation>

const DURATION = /^P(?!$)(?:\d{1,3}Y)?(?:\d{1,3}M)?(?:\d{1,4}W)?(?:\d{1,4}D)?(?:T(?=\d)(?:\d{1,4}H)?(?:\d{1,6}M)?(?:\d{1,8}S)?)?$/

export const advanceTestClock = z
  .strictObject({
    advance: z
      .string()
      .regex(DURATION, 'must be an ISO 8601 duration such as P1M or PT90M')
      .optional()
      .meta({ description: 'By so much; months and years as the calendar in UTC has them', example: 'P1M' }),
    to: timestamp.optional().meta({ description: 'To this moment' }),
  })
  .refine(body => (body.advance === undefined) !== (body.to === undefined), 'name advance or to, and one of them alone')
export type AdvanceTestClock = z.infer<typeof advanceTestClock>

export const testClock = z.object({
  object: z.literal('test_clock'),
  now: timestamp,
  target: timestamp.nullable().meta({ description: 'Where it is moving to; null once it has come there and nothing is left to be done' }),
})
export type TestClockBody = z.infer<typeof testClock>
