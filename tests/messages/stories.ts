import { type CreateOrder, NO_MEMO, type OrderBody } from '@ponte/contracts'
import type { ChainFacts } from './chain-facts'

const LIFE_S = 3_600
const MINUTE_S = 60
const HOUR_S = 3_600
/** As the payers of one order decide: what the chain has of it. `at` is when the order was made, in seconds. */
type OrderStory = (chain: ChainFacts, order: OrderBody, at: number) => void

/** The chain takes back what was confirmed, and no more comes. */
export const TAKEN_BACK = 'reorganised away'
export const TOPPED_UP = 'underpaid, then topped up'
export const ACCEPTED = 'paid late, and accepted'
export const ATTACHED = 'paid with another memo, and counted for it'
/** Its payer is mailed a code. */
export const TWICE = 'paid twice'
export const ANOTHER_MEMO = 'ac'.repeat(32)

/** Orders by their reference. */
export const orderStories: Record<string, OrderStory> = {
  'paid by the router': (chain, order, at) => chain.pay(order, at + MINUTE_S),
  // A listener that was away reports it as confirmed at once.
  'paid by a transfer and swept'(chain, order, at) {
    chain.pay(order, at + MINUTE_S, { kind: 'transfer', states: ['confirmed'] })
    chain.sweep(order, at + 2 * MINUTE_S)
  },
  'swept, moved by a reorganisation and swept again'(chain, order, at) {
    chain.pay(order, at + MINUTE_S, { kind: 'transfer' })
    chain.sweep(order, at + 2 * MINUTE_S, ['confirmed', 'orphaned'])
    chain.sweep(order, at + 4 * MINUTE_S)
  },
  'blocked for a while, then swept'(chain, order, at) {
    chain.pay(order, at + MINUTE_S, { kind: 'transfer' })
    chain.blocked(order, at + 2 * MINUTE_S)
    chain.sweep(order, at + 5 * MINUTE_S)
  },
  [TOPPED_UP](chain, order, at) {
    chain.pay(order, at + MINUTE_S, { percent: 60 })
    chain.pay(order, at + 5 * MINUTE_S, { percent: 40 })
  },
  'underpaid to its end': (chain, order, at) => chain.pay(order, at + MINUTE_S, { percent: 60 }),
  'underpaid by a transfer that is blocked for a while, its sweep taken back'(chain, order, at) {
    chain.pay(order, at + MINUTE_S, { percent: 60, kind: 'transfer', states: ['confirmed'] })
    chain.sweep(order, at + 2 * MINUTE_S, ['confirmed', 'orphaned'])
    chain.blocked(order, at + 5 * MINUTE_S)
  },
  overpaid: (chain, order, at) => chain.pay(order, at + MINUTE_S, { percent: 150 }),
  [TWICE](chain, order, at) {
    chain.pay(order, at + MINUTE_S)
    chain.pay(order, at + 5 * MINUTE_S)
  },
  'paid late': (chain, order, at) => chain.pay(order, at + LIFE_S + MINUTE_S),
  [ACCEPTED]: (chain, order, at) => chain.pay(order, at + LIFE_S + MINUTE_S),
  'paid after it was cancelled': (chain, order, at) => chain.pay(order, at + MINUTE_S),
  cancelled: () => undefined,
  expired: () => undefined,
  [TAKEN_BACK]: (chain, order, at) => chain.pay(order, at + MINUTE_S, { states: ['detected', 'confirmed', 'orphaned'] }),
  'reorganised and paid again'(chain, order, at) {
    chain.pay(order, at + MINUTE_S, { states: ['detected', 'orphaned'] })
    chain.pay(order, at + 5 * MINUTE_S, { states: ['detected', 'confirmed', 'orphaned', 'confirmed'] })
  },
  'paid by a signature'(chain, order, at) {
    chain.signed(order, at + 30)
    chain.pay(order, at + MINUTE_S)
  },
  [ATTACHED]: (chain, order, at) => chain.pay(order, at + MINUTE_S, { memo: ANOTHER_MEMO }),
  // It stands in the ledger, and asks for nothing.
  'paid past the router, to the payout address': (chain, order, at) =>
    chain.pay(order, at + MINUTE_S, { kind: 'transfer', memo: NO_MEMO, states: ['detected', 'confirmed', 'orphaned', 'confirmed'] }),
  'paid with a memo of no order': (chain, order, at) => chain.pay(order, at + MINUTE_S, { memo: 'ab'.repeat(32) }),
}
/** Its money goes back. */
export const RETURNED = 'paid after it was cancelled'
export const CANCELLED = ['cancelled', RETURNED]

export const newOrder = (reference: string): Partial<CreateOrder> => ({
  brl_amount: '150.00',
  expires_in: LIFE_S,
  external_ref: reference,
})

/** The merchant's act about a subscription at a step, before its order is looked at. */
export interface PlanStory {
  plan: object
  /** PATCH at this step; `cancel` ends it. */
  merchant?: Readonly<Record<number, object | 'cancel'>>
  /** The payer of the order that is open at a step. */
  payer?(chain: ChainFacts, order: OrderBody, at: number, step: number): void
  /** Of the orders that were asked for before, at a step. */
  latecomer?(chain: ChainFacts, order: OrderBody, at: number, step: number): void
  /** Orders refuses what is asked for. */
  isRefused?: boolean
}
/** Seconds by which time goes on before each step. */
export const STEPS = [0, 2 * HOUR_S, 22 * HOUR_S, 2 * HOUR_S, 22 * HOUR_S]

const daily = { brl_amount: '49.90', interval: 'day', order_expires_in: LIFE_S, retry_after: [2 * HOUR_S - 60], max_periods: 2 }
const paysAll = (chain: ChainFacts, order: OrderBody, at: number) => chain.pay(order, at + MINUTE_S)

/** Subscriptions by their reference. */
export const planStories: Record<string, PlanStory> = {
  'paid to its end': { plan: { ...daily, upcoming_notice: 2 * HOUR_S + 60 }, payer: paysAll },
  'cancelled with an open order': { plan: daily, merchant: { 1: 'cancel' } },
  'cancelled at the end of its period': {
    plan: { ...daily, max_periods: 9 },
    merchant: { 1: { cancel_at_period_end: true } },
    payer: paysAll,
  },
  'never paid, paused and resumed': {
    plan: { ...daily, max_periods: 9, unpaid_periods_max: 1, when_unpaid: 'pause' },
    merchant: { 3: { paused: false } },
  },
  'paused by the merchant and resumed': {
    plan: { ...daily, max_periods: 9 },
    merchant: { 0: { paused: true }, 3: { paused: false } },
    payer: paysAll,
  },
  'paid in part, and the rest of it on the next order': {
    plan: daily,
    payer: (chain, order, at, step) => chain.pay(order, at + MINUTE_S, { percent: step === 0 ? 60 : 100 }),
  },
  'paid late in two parts, while the next order is open': {
    plan: daily,
    latecomer(chain, order, at, step) {
      if (step !== 1) return
      chain.pay(order, at + MINUTE_S, { percent: 60 })
      chain.pay(order, at + 3 * MINUTE_S, { percent: 40 })
    },
  },
  'changed at once': { plan: daily, merchant: { 0: { apply: 'now', brl_amount: '59.90' } }, payer: paysAll },
  'refused by orders': { plan: { ...daily, max_periods: 1 }, isRefused: true },
}
