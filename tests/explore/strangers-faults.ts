import { accountRules } from '@ponte/api-gateway'
import { orderRules, refundRules } from '@ponte/orders'
import { subscriptionRules } from '@ponte/subscriptions'
import type { OrderRules } from './books'
import { explore, nothing, type Walk } from './explorer'
import { walkOrders } from './order'
import { history, type OrderFault, paying, scopeOf, seeing } from './order-faults'
import { GUARD, type PayoutRules, type PayoutScope, payoutModel } from './payout'
import { periodModel } from './period'
import type { PeriodFault } from './period-faults'
import { type RefundRules, refundModel, trueView } from './refund'
import { smallInsider, smallPayout, smallPlan, smallRefunds } from './scopes'

/** Faults that a stranger to the rules invented from the documents and the signatures alone, before the walk and its list were read. */
export interface StrangersFault {
  /** As far as the level in which the first fault is found. */
  walk(): Walk
  /** Too long for `npm test`. */
  isLong: boolean
  /** What the walk must call it. */
  finds: RegExp
}

const { accept, cancel, changesOf, receivePayments, release, review } = orderRules
const { recordClosed, recordPaid } = subscriptionRules
const SECOND_GENERATION = { at: 3, to: 0, unnoticed: 0, watchesAtOnce: true }

/** Rules of the verdict whose outcome is put wrong afterwards. */
const judging = (put: (order: orderRules.Order) => orderRules.Order): OrderRules => ({
  ...orderRules,
  review: (ledger, chain, at, before) => {
    const change = review(ledger, chain, at, before)
    return { ...change, order: put(change.order) }
  },
  receivePayments: (ledger, changed, chain, at) => {
    const change = receivePayments(ledger, changed, chain, at)
    return change && { ...change, order: put(change.order) }
  },
})

const orders: Record<string, OrderFault> = {
  'what came in the last second is late': {
    history: history(paying(100, 2)),
    finds: /order.expired, and it was paid in time/,
    rules: {
      ...orderRules,
      changesOf: (known, incoming, blocks, coverage) =>
        changesOf(
          known,
          incoming.map(payment => ({ ...payment, blockTime: new Date(payment.blockTime.getTime() + 1) })),
          blocks,
          coverage,
        ),
    },
  },
  'an order expires with the second in which it ends, not after it': {
    history: { ...history(paying(100, 5)), isDense: true },
    finds: /order.expired, and it was paid in time/,
    rules: {
      ...orderRules,
      review: (ledger, chain, at, before) =>
        review(ledger, { ...chain, time: chain.time && new Date(chain.time.getTime() + 1) }, at, before),
    },
  },
  'its end is looked at before what is being confirmed': {
    history: history(paying(100, 5)),
    finds: /order.expired while what would pay it is being confirmed/,
    rules: {
      ...orderRules,
      review: (ledger, chain, at, before) => {
        const { seenUnits, confirmedUnits } = ledger.order
        const change = review({ ...ledger, order: { ...ledger.order, seenUnits: confirmedUnits } }, chain, at, before ?? ledger.order)
        return { ...change, order: { ...change.order, seenUnits } }
      },
    },
  },
  'payments complete an order as they arrive, not as they stand on the chain': {
    history: history(paying(60, 1), paying(60, 3)),
    finds: /the chain does not hold what pays it in time/,
    rules: {
      ...orderRules,
      receivePayments: (ledger, changed, chain, at) =>
        receivePayments({ ...ledger, order: { ...ledger.order, lastBlock: null, lastIndex: null } }, changed, chain, at),
    },
  },
  'a sum that grew is not notified again': {
    history: history(paying(30, 1), paying(30, 2)),
    finds: /too little, and no notice has its sum/,
    rules: seeing(order => (order.notifiedUnits > 0n ? { ...order, notifiedUnits: order.usdcUnits } : order)),
  },
  'the last block of a confirmed range is not looked at': {
    history: { ...history(paying(100, 3, 'gone', 'router')), putBack: SECOND_GENERATION },
    finds: /something is still on its way/,
    rules: {
      ...orderRules,
      changesOf: (known, incoming, blocks, coverage) =>
        changesOf(
          known,
          incoming,
          { ...blocks, advanced: blocks.advanced && { ...blocks.advanced, to: blocks.advanced.to - 1n } },
          coverage,
        ),
    },
  },
  'of two statements the greater version holds, whatever the generation': {
    history: { ...history(paying(100, 2, 'gone')), putBack: SECOND_GENERATION },
    finds: /still on its way|order.expired, and it was paid in time/,
    rules: {
      ...orderRules,
      isNewer: (a, b) => a.version > b.version,
      changesOf: (known, incoming, blocks, coverage) => {
        const { generation } = blocks
        const goneAt = (hash: string) => {
          const gone = blocks.goneAt(hash)
          return gone && { ...gone, generation }
        }
        return changesOf(
          known.map(payment => ({ ...payment, generation })),
          incoming,
          { ...blocks, goneAt },
          coverage,
        )
      },
    },
  },
  'a block that is gone takes back only what was not confirmed': {
    history: history(paying(100, 1, 'taken back')),
    finds: /the confirmed sum is not what the chain holds/,
    rules: {
      ...orderRules,
      changesOf: (known, incoming, blocks, coverage) => {
        const kept = new Set(known.flatMap(({ status, blockHash }) => (status === 'confirmed' && blockHash !== null ? [blockHash] : [])))
        return changesOf(known, incoming, { ...blocks, gone: new Set([...blocks.gone].filter(hash => !kept.has(hash))) }, coverage)
      },
    },
  },
  'what was seen is noted as accepted': {
    history: history(paying(60, 1), paying(20, 3, 'gone')),
    scope: { commands: ['accept'], parkedMax: 0 },
    finds: /accepted, its money is/,
    rules: {
      ...orderRules,
      accept: (ledger, acceptance, chain, at) => {
        const change = accept(ledger, acceptance, chain, at)
        return { ...change, order: { ...change.order, acceptedUnits: change.order.seenUnits } }
      },
    },
  },
  'the end of a plan looks at what is confirmed alone': {
    history: history(paying(100, 2)),
    scope: { commands: ['release'], parkedMax: 0 },
    finds: /cancelled while money for it is known/,
    rules: {
      ...orderRules,
      release: (ledger, chain, at) => {
        const { status, confirmedUnits, seenUnits } = ledger.order
        if (status !== 'confirming' || confirmedUnits > 0n) return release(ledger, chain, at)
        const change = cancel({ ...ledger.order, status: 'pending', seenUnits: 0n }, at)
        return change && { ...change, order: { ...change.order, seenUnits } }
      },
    },
  },
  'the end of a plan is forgotten where money was on its way': {
    history: history(paying(100, 2, 'gone')),
    scope: { commands: ['release'], parkedMax: 0 },
    finds: /its plan has ended, no money counts for it, and it can still be paid/,
    rules: {
      ...orderRules,
      release: (ledger, chain, at) => {
        const change = release(ledger, chain, at)
        return change && { ...change, order: { ...change.order, withdrawnAt: null } }
      },
    },
  },
  'a cent more than was asked is too much': {
    history: history(paying(101, 1)),
    finds: /the order says overpaid, the chain null/,
    rules: judging(order =>
      order.status === 'paid' && order.confirmedUnits > order.usdcUnits ? { ...order, exception: 'overpaid' } : order,
    ),
  },
  'what came in the completing block counts as a second payment': {
    history: history(paying(100, 1), paying(100, 1)),
    finds: /the order says duplicate, the chain overpaid/,
    rules: judging(order => {
      const required = order.usdcUnits - order.toleranceUnits
      return order.status === 'paid' && order.confirmedUnits - required >= required ? { ...order, exception: 'duplicate' } : order
    }),
  },
}

const reopened = (known: subscriptionRules.Subscription, isPeriodToo: boolean): subscriptionRules.Subscription => ({
  ...known,
  charges: known.charges.map(charge => ({
    ...charge,
    status: isPeriodToo && charge.status === 'paid' ? 'open' : charge.status,
    attempts: charge.attempts.map(one => (one.status === 'paid' ? { ...one, status: 'open' } : one)),
  })),
})
const attemptOf = ({ charges }: subscriptionRules.Subscription, orderId: string) =>
  charges.flatMap(({ attempts }) => attempts).find(one => one.orderId === orderId)

export const strangersPlanFaults: Record<string, PeriodFault> = {
  'order.paid that comes twice counts twice': {
    whenUnpaid: 'leave',
    finds: /a period is charged twice/,
    rules: {
      ...subscriptionRules,
      recordPaid: (known, order, at) =>
        recordPaid(attemptOf(known, order.id)?.status === 'paid' ? reopened(known, true) : known, order, at),
    },
  },
  'an order that was reported as expired cannot turn out to be paid': {
    whenUnpaid: 'leave',
    finds: /a paid period is not charged/,
    rules: {
      ...subscriptionRules,
      recordPaid: (known, order, at) =>
        attemptOf(known, order.id)?.status === 'open' ? recordPaid(known, order, at) : { from: known, subscription: known, facts: [] },
    },
  },
  'the other order of a paid period is left open': {
    whenUnpaid: 'leave',
    finds: /can still be paid, and its period is charged/,
    rules: {
      ...subscriptionRules,
      recordPaid: (known, order, at) => {
        const change = recordPaid(known, order, at)
        return { ...change, facts: change.facts.filter(({ kind }) => kind !== 'superseded') }
      },
    },
  },
  'an expiry that comes late closes an order that was paid': {
    whenUnpaid: 'leave',
    finds: /is the period's charge, and is called its duplicate/,
    rules: {
      ...subscriptionRules,
      recordClosed: (known, orderId, outcome, at) => recordClosed(reopened(known, false), orderId, outcome, at),
    },
  },
}

const refundFaults: Record<string, { rules?: RefundRules; view?: typeof trueView; finds: RegExp }> = {
  'an authorization that was cancelled, unconfirmed, is void': {
    finds: /one refund is paid twice|a cancelled refund is paid/,
    view: state => {
      const view = trueView(state)
      return { ...view, facts: view.facts.map(fact => (fact.end === 'cancelled' ? { ...fact, isConfirmed: true } : fact)) }
    },
  },
  'what has gone back is promised no more': {
    finds: /more goes back than came/,
    rules: {
      ...refundRules,
      openRefund: (refund, others, receivedUnits, view) =>
        refundRules.openRefund(
          refund,
          others.filter(other => refundRules.refundStatus(other, view) !== 'confirmed'),
          receivedUnits,
          view,
        ),
    },
  },
}

export const strangersOwnerFaults: Record<string, { rules: PayoutRules; scope?: PayoutScope; isLong?: true; finds: RegExp }> = {
  'only who requested a change of owners may undo it': {
    scope: smallInsider,
    finds: /no owner of before can undo/,
    rules: {
      ...accountRules,
      undoOwnerChange: (members, ownership, id, by) =>
        accountRules.undoOwnerChange(
          members,
          { ...ownership, ownerChanges: ownership.ownerChanges.map(change => ({ ...change, owners: [change.requestedBy] })) },
          id,
          by,
        ),
    },
  },
  'the hold begins with the request of a change of owners, not with its end': {
    scope: { ...smallInsider, last: 6, guard: { ...GUARD, payoutHoldMs: GUARD.payoutHoldMs - GUARD.ownerDelayMs } },
    isLong: true,
    finds: /within three days after the owners changed/,
    rules: accountRules,
  },
}

const AT_FAULT = { stopsAtFault: true }
const named = <T extends { finds: RegExp; isLong?: true }>(faults: Record<string, T>, walk: (fault: T) => Walk) =>
  Object.entries(faults).map(([what, fault]): readonly [string, StrangersFault] => [
    what,
    { finds: fault.finds, isLong: fault.isLong ?? false, walk: () => walk(fault) },
  ])

export const strangersFaults: readonly (readonly [what: string, fault: StrangersFault])[] = [
  ...named(orders, fault => {
    const walk = nothing()
    walkOrders([fault.history], scopeOf(fault), walk, fault.rules, true)
    return walk
  }),
  ...named(strangersPlanFaults, ({ rules, finds: _, ...scope }) => explore(periodModel({ ...smallPlan, ...scope }, rules), AT_FAULT)),
  ...named(refundFaults, ({ rules, view }) => explore(refundModel(smallRefunds, rules, view), AT_FAULT)),
  ...named(strangersOwnerFaults, ({ rules, scope = smallPayout }) => explore(payoutModel(scope, rules), AT_FAULT)),
]
