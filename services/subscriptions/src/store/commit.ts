import type { MerchantTerms, NewEvent } from '@ponte/contracts'
import {
  type Database,
  insertRows,
  isStale,
  isUniqueViolation,
  outboxRows,
  type Statement,
  type StoredAnswer,
  type Unit,
  updateVersioned,
} from '@ponte/service-kit'
import type { Attempt, Change, Charge, Subscription } from '../subscription'
import { changingColumns, fixedColumns, recordOf } from './subscription-row'

/** What is written together with a change: the event that caused it, the answer stored for a repeated request, the merchant's terms of now. */
export interface Cause {
  eventId?: string
  answers?: readonly StoredAnswer[]
  terms?: MerchantTerms
  /** The merchant's version that the cause was decided under; no event names an older one. */
  merchantVersion?: number
}

const TERMS = `terms AS (
    INSERT INTO merchants AS known (id, version, display_name, payout_address)
    SELECT id, version, display_name, payout_address FROM json_populate_recordset(NULL::merchants, $merchants)
    ON CONFLICT (id) DO UPDATE
    SET version = EXCLUDED.version, display_name = EXCLUDED.display_name, payout_address = EXCLUDED.payout_address
    WHERE known.version < EXCLUDED.version)`

// Raw SQL because it commits with its event and its answer.
const CREATE: Statement = {
  name: 'subscription-create',
  text: `WITH ${TERMS} ${insertRows('subscriptions', [...fixedColumns, ...changingColumns])}`,
}

// Raw SQL, for the same reason. New charges and attempts are plain inserts: their keys refuse what another replica has charged meanwhile.
const CHANGE: Statement = {
  name: 'subscription-change',
  text: `
  WITH ${TERMS},
  new_charges AS (
    INSERT INTO charges (subscription_id, period_index, status, brl_centavos, issued_at, paid_at)
    SELECT subscription_id, period_index, status, brl_centavos, issued_at, paid_at FROM json_populate_recordset(NULL::charges, $new_charges)),
  charged AS (
    UPDATE charges SET status = incoming.status, brl_centavos = incoming.brl_centavos, issued_at = incoming.issued_at, paid_at = incoming.paid_at
    FROM json_populate_recordset(NULL::charges, $charges) AS incoming
    WHERE charges.subscription_id = incoming.subscription_id AND charges.period_index = incoming.period_index),
  new_attempts AS (
    INSERT INTO attempts (subscription_id, order_id, period_index, memo, status, issued_at)
    SELECT subscription_id, order_id, period_index, memo, status, issued_at FROM json_populate_recordset(NULL::attempts, $new_attempts)),
  attempted AS (
    UPDATE attempts SET status = incoming.status FROM json_populate_recordset(NULL::attempts, $attempts) AS incoming
    WHERE attempts.order_id = incoming.order_id)
  ${updateVersioned('subscriptions', [...changingColumns, 'claimed_until'])}`,
}

/** Writes a new subscription with the answer for a repeated request. */
export async function writeNew(database: Database, subscription: Subscription, cause: Cause, at: Date): Promise<void> {
  await database.commit({
    ...causeOf(cause),
    write: CREATE,
    rows: { subscriptions: [recordOf(subscription, at)], merchants: termsOf(cause) },
  })
}

/** Writes what changed, its events and its cause. Throws an error that `isConflict` knows when another commit was first. */
export async function writeChange(database: Database, change: Change, events: readonly NewEvent[], cause: Cause, at: Date): Promise<void> {
  const { from, subscription } = change
  await database.commit({
    ...causeOf(cause),
    events: outboxRows(events, at),
    write: CHANGE,
    rows: {
      // A change that left everything as it was, such as an event that brings nothing new, writes its cause alone.
      subscriptions: subscription === from ? [] : [{ ...recordOf(subscription, at), claimed_until: null }],
      merchants: termsOf(cause),
      ...chargeRows(change),
    },
  })
}

/** True when the subscription moved on since it was read, or its period was charged by another replica: read it again and decide again. */
export const isConflict = (error: unknown) =>
  isStale(error) || ['charges_pkey', 'attempts_one_open', 'attempts_one_paid'].some(key => isUniqueViolation(error, key))

const causeOf = ({ eventId, answers = [] }: Cause): Unit => ({ inbox: eventId ? [eventId] : [], answers })

const termsOf = ({ terms }: Cause) => (terms ? [{ ...terms, id: terms.merchant_id }] : [])

/** What of a subscription's charges is new or different. The noun copies only what it changes, so identity is enough to compare. */
function chargeRows({ from, subscription }: Change) {
  const before = new Map(from.charges.map(charge => [charge.periodIndex, charge]))
  const known = new Map(from.charges.flatMap(({ attempts }) => attempts.map(attempt => [attempt.orderId, attempt])))
  const touched = subscription.charges.filter(charge => before.get(charge.periodIndex) !== charge)
  const attempts = touched.flatMap(charge => charge.attempts.map(attempt => ({ charge, attempt })))
  const isNew = (attempt: Attempt) => !known.has(attempt.orderId)
  const toCharge = (charge: Charge) => chargeRow(subscription.id, charge)
  const toAttempt = ({ charge, attempt }: { charge: Charge; attempt: Attempt }) => attemptRow(subscription.id, charge, attempt)
  return {
    new_charges: touched.filter(charge => !before.has(charge.periodIndex)).map(toCharge),
    charges: touched.filter(charge => before.has(charge.periodIndex)).map(toCharge),
    new_attempts: attempts.filter(({ attempt }) => isNew(attempt)).map(toAttempt),
    attempts: attempts.filter(({ attempt }) => !isNew(attempt) && known.get(attempt.orderId) !== attempt).map(toAttempt),
  }
}

const chargeRow = (subscriptionId: string, { periodIndex, status, brlCentavos, issuedAt, paidAt }: Charge) => ({
  subscription_id: subscriptionId,
  period_index: periodIndex,
  status,
  brl_centavos: brlCentavos,
  issued_at: issuedAt,
  paid_at: paidAt,
})

const attemptRow = (subscriptionId: string, { periodIndex }: Charge, { orderId, memo, status, issuedAt }: Attempt) => ({
  subscription_id: subscriptionId,
  order_id: orderId,
  period_index: periodIndex,
  memo,
  status,
  issued_at: issuedAt,
})
