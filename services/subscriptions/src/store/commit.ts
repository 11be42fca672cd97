import type { MerchantTerms, NewEvent } from '@ponte/contracts'
import {
  type Database,
  insertRows,
  isStale,
  isUniqueViolation,
  outboxRows,
  type Statement,
  type StoredAnswer,
  snakeCase,
  type Unit,
  updateVersioned,
} from '@ponte/service-kit'
import type { Attempt, Change, Charge, Subscription } from '../subscription/subscription'
import { SAVE_TERMS, termsRecord } from './merchants'
import { changingColumns, fixedColumns, recordOf } from './subscription-row'

/** Written together with a change: the event that caused it, the answer stored for a repeated request, the merchant's present terms. */
export interface Cause {
  eventId?: string
  answers?: readonly StoredAnswer[]
  terms?: MerchantTerms
  /** The merchant's version that the cause was decided under; no event names an older one. */
  merchantVersion?: number
}

const TERMS = `terms AS (${SAVE_TERMS})`

// Raw SQL because it commits with its event and its answer.
const CREATE: Statement = {
  name: 'subscription-create',
  text: `WITH ${TERMS} ${insertRows('subscriptions', [...fixedColumns, ...changingColumns])}`,
}

const CHARGE = ['subscription_id', 'period_index', 'periods', 'status', 'brl_centavos', 'wording', 'issued_at', 'paid_at']
const ATTEMPT_FIXED = ['subscription_id', 'order_id', 'period_index', 'memo', 'issued_at', 'ends_at', 'brl_centavos']
const ATTEMPT_CHANGING = ['status', 'reason', 'received_centavos', 'received_revision', 'received_order', 'replaced_at']
const insertFrom = (table: string, parameter: string, columns: readonly string[]) =>
  `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM json_populate_recordset(NULL::${table}, $${parameter})`
const setFrom = (columns: readonly string[]) => columns.map(column => `${column} = incoming.${column}`).join(', ')

// Raw SQL, for the same reason. New charges and attempts are plain inserts: their keys refuse what another replica has charged meanwhile.
const CHANGE: Statement = {
  name: 'subscription-change',
  text: `
  WITH ${TERMS},
  new_charges AS (${insertFrom('charges', 'new_charges', CHARGE)}),
  charged AS (
    UPDATE charges SET ${setFrom(CHARGE.slice(2))}
    FROM json_populate_recordset(NULL::charges, $charges) AS incoming
    WHERE charges.subscription_id = incoming.subscription_id AND charges.period_index = incoming.period_index),
  new_attempts AS (${insertFrom('attempts', 'new_attempts', [...ATTEMPT_FIXED, ...ATTEMPT_CHANGING])}),
  attempted AS (
    UPDATE attempts SET ${setFrom(ATTEMPT_CHANGING)} FROM json_populate_recordset(NULL::attempts, $attempts) AS incoming
    WHERE attempts.order_id = incoming.order_id)
  ${updateVersioned('subscriptions', [...changingColumns, 'claimed_until'])}`,
}

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

const termsOf = ({ terms }: Cause) => (terms ? [termsRecord(terms)] : [])

/** The noun copies only what it changes, so identity is enough to find new and changed charges. */
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

const chargeRow = (subscriptionId: string, { attempts: _, ...charge }: Charge) => snakeCase({ ...charge, subscriptionId })

const attemptRow = (subscriptionId: string, { periodIndex }: Charge, { reportRevision: receivedRevision, ...attempt }: Attempt) =>
  snakeCase({ ...attempt, subscriptionId, periodIndex, receivedRevision })
