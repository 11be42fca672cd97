import { z } from 'zod'
import { accountChanged, merchantUpdated } from './api-gateway'
import {
  authorizationChanged,
  chainAudited,
  chainBlocks,
  depositBlocked,
  payoutWatched,
  recoveryObserved,
  refundObserved,
} from './chain-listener'
import { envelope } from './envelope'
import { openEnums } from './open-enums'
import {
  chainFollowed,
  depositWatch,
  orderAccepted,
  orderChanged,
  orderClosed,
  orderCreated,
  orderPaid,
  orderReceived,
  orderRefused,
  orderSettled,
  orderSurplus,
  orderUnderpaid,
  orderUpdated,
  orderWaiting,
  paymentAttached,
  paymentUnmatched,
  payoutWatch,
  recoveryWatch,
  refundClaimCodeIssued,
  refundConfirmed,
  refundCreated,
  refundFailed,
  refundWatch,
} from './orders'
import {
  chargeRequested,
  orderSuperseded,
  subscriptionCharged,
  subscriptionClosed,
  subscriptionOrderIssued,
  subscriptionPastDue,
  subscriptionResumed,
  subscriptionUpcoming,
} from './subscriptions'
import { endpointFailing } from './webhook-dispatcher'

/** Every fact that travels between services; the key is the routing key. Changes are additive, a breaking one is a new name. */
export const eventTable = {
  'merchant.updated': merchantUpdated,
  'account.changed': accountChanged,
  'deposit.blocked': depositBlocked,
  'authorization.changed': authorizationChanged,
  'chain.audited': chainAudited,
  'chain.blocks': chainBlocks,
  'chain.followed': chainFollowed,
  'deposit.watch': depositWatch,
  'payout.watch': payoutWatch,
  'payout.watched': payoutWatched,
  'recovery.observed': recoveryObserved,
  'recovery.watch': recoveryWatch,
  'refund.observed': refundObserved,
  'refund.watch': refundWatch,
  'order.created': orderCreated,
  'order.paid': orderPaid,
  'order.underpaid': orderUnderpaid,
  'order.expired': orderClosed,
  'order.cancelled': orderClosed,
  'order.overpaid': orderSurplus,
  'order.paid_late': orderSurplus,
  'order.paid_after_cancel': orderSurplus,
  'order.duplicate': orderSurplus,
  'order.settled': orderSettled,
  'order.accepted': orderAccepted,
  'order.payment_unmatched': paymentUnmatched,
  'payment.attached': paymentAttached,
  'refund_claim.code_issued': refundClaimCodeIssued,
  'refund.created': refundCreated,
  'refund.confirmed': refundConfirmed,
  'refund.failed': refundFailed,
  'order.changed': orderChanged,
  'order.waiting': orderWaiting,
  'order.refused': orderRefused,
  'order.received': orderReceived,
  'order.updated': orderUpdated,
  'subscription.charge_requested': chargeRequested,
  'subscription.order_superseded': orderSuperseded,
  'subscription.charged': subscriptionCharged,
  'subscription.cancelled': subscriptionClosed,
  'subscription.expired': subscriptionClosed,
  'subscription.order_issued': subscriptionOrderIssued,
  'subscription.upcoming': subscriptionUpcoming,
  'subscription.past_due': subscriptionPastDue,
  'subscription.paused': subscriptionResumed,
  'subscription.resumed': subscriptionResumed,
  'endpoint.failing': endpointFailing,
} as const satisfies Record<string, z.ZodType>

export type EventType = keyof typeof eventTable
export type EventData<T extends EventType> = z.infer<(typeof eventTable)[T]>
export type Event = { [T in EventType]: { id: string; type: T; occurred_at: string; data: EventData<T>; trace: string | null } }[EventType]
/** An event as a decision returns it; the store gives it an id when it commits. */
export type NewEvent = { [T in EventType]: { type: T; data: EventData<T> } }[EventType]

const schemas = new Map<string, z.ZodType>(
  Object.entries(eventTable).map(([type, data]) => [type, envelope.extend({ type: z.literal(type), data })]),
)

const typed = envelope.pick({ type: true })

/** Checks an event on either side of the bus. Throws a ZodError, or a RangeError for an undeclared type. */
export function parseEvent(value: unknown): Event {
  const { type } = typed.parse(value)
  const schema = schemas.get(type)
  if (!schema) throw new RangeError(`No event is called ${JSON.stringify(type)}.`)
  return schema.parse(value) as Event
}

/** Types with values that none of their readers decides by: a value that is new must not keep an event from them. */
const opened: Partial<Record<EventType, z.ZodType>> = {
  'deposit.blocked': openEnums(depositBlocked),
}
const readers = new Map<string, z.ZodType>(
  Object.entries({ ...eventTable, ...opened }).map(([type, data]) => [type, envelope.extend({ type: z.literal(type), data })]),
)

/**
 * Reads an event that another version may have published: fields that are not known stay, and `unknown` names why a newer version may understand what
 * this one does not. Throws a ZodError for what no version would publish.
 */
export function readEvent(value: unknown): Event | { unknown: string } {
  const { type } = typed.parse(value)
  const schema = readers.get(type)
  if (!schema) return { unknown: `No event is called ${JSON.stringify(type)} here.` }
  const read = schema.safeParse(value)
  if (read.success) return read.data as Event
  const isNewValue = read.error.issues.every(({ code }) => code === 'invalid_value' || code === 'invalid_union')
  if (!isNewValue) throw read.error
  return { unknown: `${type} has a value that is not known here: ${read.error.issues.map(({ path }) => path.join('.')).join(', ')}.` }
}

/**
 * Who reads what: one durable queue per service, and the events bound to it. Every service declares all of it when it connects,
 * so that an event published before its reader has ever started waits in the reader's queue (docs/architecture.md#events-between-services).
 * A type that is unknown to a replica is handed back; the release before parks it instead, so what that one does not read is in second queues (`orders.2`).
 */
export const topology = {
  orders: [
    'merchant.updated',
    'deposit.blocked',
    'subscription.charge_requested',
    'subscription.order_superseded',
    'subscription.cancelled',
  ],
  'orders.2': ['chain.audited', 'authorization.changed', 'subscription.expired', 'subscription.charged'],
  'orders.3': ['chain.blocks'],
  'orders.4': ['refund.observed'],
  'orders.5': ['recovery.observed'],
  'orders.6': ['payout.watched'],
  subscriptions: ['order.created', 'order.paid', 'order.expired', 'order.cancelled'],
  'subscriptions.2': ['merchant.updated', 'order.waiting', 'order.refused', 'order.received', 'order.updated'],
  // Nothing is bound to the first queue any more: what it holds is of orders that are sent again.
  'chain-listener': [],
  'chain-listener.2': ['order.cancelled'],
  'chain-listener.3': ['deposit.watch', 'chain.followed'],
  'chain-listener.4': ['refund.watch'],
  'chain-listener.5': ['recovery.watch'],
  'chain-listener.6': ['payout.watch'],
  // Members may want these by mail.
  'api-gateway': [
    'order.underpaid',
    'order.overpaid',
    'order.paid_late',
    'order.paid_after_cancel',
    'order.duplicate',
    'order.payment_unmatched',
    'subscription.past_due',
    'endpoint.failing',
    'order.paid',
    'subscription.charged',
  ],
  'api-gateway.2': ['refund_claim.code_issued'],
  'webhook-dispatcher': [
    'merchant.updated',
    'order.paid',
    'order.underpaid',
    'order.expired',
    'order.cancelled',
    'subscription.charged',
    'subscription.cancelled',
    'subscription.expired',
  ],
  'webhook-dispatcher.2': [
    'order.overpaid',
    'order.paid_late',
    'order.paid_after_cancel',
    'order.duplicate',
    'order.settled',
    'order.accepted',
    'order.payment_unmatched',
    'subscription.order_issued',
    'subscription.upcoming',
    'subscription.past_due',
    'subscription.paused',
    'subscription.resumed',
    'account.changed',
    'payment.attached',
    'refund.created',
    'refund.confirmed',
    'refund.failed',
  ],
} as const satisfies Record<string, readonly EventType[]>

/** The queues that a service reads, oldest first. */
export const queuesReadBy = (service: string): string[] =>
  Object.keys(topology).filter(queue => queue === service || queue.startsWith(`${service}.`))

/** The types that a service reads, of all its queues. */
export function typesReadBy(service: string): EventType[] {
  const queues: Record<string, readonly EventType[]> = topology
  return queuesReadBy(service).flatMap(queue => queues[queue] ?? [])
}

/** The one queue of the listener of a network beside the first: both read the same types, and neither takes what the other is to read. */
export const listenerQueueOf = (chainId: number): string => `chain-listener-${chainId}`

/** The topology with the listeners of networks beside the first. */
export function topologyWith(otherChainIds: readonly number[]): Record<string, readonly EventType[]> {
  return { ...topology, ...Object.fromEntries(otherChainIds.map(id => [listenerQueueOf(id), typesReadBy('chain-listener')])) }
}
