import type { MerchantTerms, NewEvent } from '@ponte/contracts'
import { isStale, isUniqueViolation, type Sql, toOutbox } from '@ponte/service-kit'
import type { Attempt, Change, Charge, Subscription } from '../subscription'
import type { KeptAnswer } from './idempotency'
import { changingColumns, fixedColumns } from './subscription-row'

/** What is written together with a change: whose event caused it, the answer kept for a repeated request, the merchant's terms of now. */
export interface Cause {
  eventId?: string
  answer?: KeptAnswer | null
  terms?: MerchantTerms
  /** The merchant's version that the cause was decided under; what is told names no older one. */
  merchantVersion?: number
}

// Rows of all kinds travel in $1; PostgreSQL takes them apart. New charges and attempts are plain inserts: the keys are the promise.
const WRITES = `
  WITH answer AS (
    INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body, order_id)
    SELECT * FROM jsonb_to_recordset($1::jsonb->'answers')
      AS a(merchant_id uuid, route text, key text, body_hash text, status int, body text, order_id uuid)),
  seen AS (INSERT INTO inbox (event_id) SELECT id::uuid FROM jsonb_array_elements_text($1::jsonb->'inbox') AS id),
  told AS (
    INSERT INTO outbox (id, type, body) SELECT * FROM jsonb_to_recordset($1::jsonb->'outbox') AS o(id uuid, type text, body text)),
  terms AS (
    INSERT INTO merchants AS known (id, version, display_name, payout_address)
    SELECT * FROM jsonb_to_recordset($1::jsonb->'terms') AS t(merchant_id uuid, version int, display_name text, payout_address text)
    ON CONFLICT (id) DO UPDATE
    SET version = EXCLUDED.version, display_name = EXCLUDED.display_name, payout_address = EXCLUDED.payout_address
    WHERE known.version < EXCLUDED.version),
  new_charges AS (
    INSERT INTO charges (subscription_id, period_index, status, brl_centavos, issued_at, paid_at)
    SELECT $2::uuid, c.* FROM jsonb_to_recordset($1::jsonb->'newCharges')
      AS c(period_index int, status text, brl_centavos bigint, issued_at timestamptz, paid_at timestamptz)),
  charged AS (
    UPDATE charges SET status = c.status, brl_centavos = c.brl_centavos, issued_at = c.issued_at, paid_at = c.paid_at
    FROM jsonb_to_recordset($1::jsonb->'charges')
      AS c(period_index int, status text, brl_centavos bigint, issued_at timestamptz, paid_at timestamptz)
    WHERE charges.subscription_id = $2::uuid AND charges.period_index = c.period_index),
  new_attempts AS (
    INSERT INTO attempts (subscription_id, order_id, period_index, memo, status, issued_at)
    SELECT $2::uuid, a.* FROM jsonb_to_recordset($1::jsonb->'newAttempts')
      AS a(order_id uuid, period_index int, memo text, status text, issued_at timestamptz)),
  attempted AS (
    UPDATE attempts SET status = a.status FROM jsonb_to_recordset($1::jsonb->'attempts') AS a(order_id uuid, status text)
    WHERE attempts.order_id = a.order_id)`

const columns = [...fixedColumns, ...changingColumns]
const CREATE = `${WRITES}
  INSERT INTO subscriptions (${columns.map(([column]) => column).join(', ')})
  VALUES (${columns.map((_, index) => `$${index === 0 ? 2 : index + 2}`).join(', ')})`

// A version that moved on since it was read becomes NULL, which the column refuses: the whole statement is undone.
const CHANGE = `${WRITES}
  UPDATE subscriptions SET ${changingColumns.map(([column], index) => `${column} = $${index + 4}`).join(', ')}, claimed_until = NULL,
    version = CASE WHEN version = $3 THEN version + 1 END
  WHERE id = $2::uuid`

const ASIDE = `${WRITES} SELECT $2::uuid`

/** Writes a new subscription with the answer for a repeated request, in one statement. */
export async function writeNew(sql: Sql, subscription: Subscription, cause: Cause, at: Date): Promise<void> {
  const values = columns.map(([, read]) => read(subscription, at))
  await sql.query({ name: 'subscription-create', text: CREATE }, [asRows(null, [], cause, at), ...values])
}

/** Writes what changed, its events and its cause, in one statement. Throws an error that `isBeaten` knows when somebody else was first. */
export async function writeChange(sql: Sql, change: Change, events: readonly NewEvent[], cause: Cause, at: Date): Promise<void> {
  const { subscription } = change
  const rows = asRows(change, events, cause, at)
  if (subscription === change.from) {
    await sql.query({ name: 'subscription-aside', text: ASIDE }, [rows, subscription.id])
    return
  }
  const values = changingColumns.map(([, read]) => read(subscription, at))
  await sql.query({ name: 'subscription-change', text: CHANGE }, [rows, subscription.id, subscription.version, ...values])
}

/** True when the subscription moved on since it was read, or its period was charged by somebody else: read it again and decide again. */
export const isBeaten = (error: unknown) =>
  isStale(error) || ['charges_pkey', 'attempts_one_open', 'attempts_one_paid'].some(key => isUniqueViolation(error, key))

function asRows(change: Change | null, events: readonly NewEvent[], cause: Cause, at: Date): string {
  const { ids, types, bodies } = toOutbox(events, at)
  return JSON.stringify({
    answers: cause.answer ? [answerRow(cause.answer)] : [],
    inbox: cause.eventId ? [cause.eventId] : [],
    outbox: ids.map((id, index) => ({ id, type: types[index], body: bodies[index] })),
    terms: cause.terms ? [cause.terms] : [],
    ...(change ? chargeRows(change) : { newCharges: [], charges: [], newAttempts: [], attempts: [] }),
  })
}

/** What of a subscription's charges is new or different. The noun copies only what it changes, so identity tells. */
function chargeRows({ from, subscription }: Change) {
  const before = new Map(from.charges.map(charge => [charge.periodIndex, charge]))
  const known = new Map(from.charges.flatMap(({ attempts }) => attempts.map(attempt => [attempt.orderId, attempt])))
  const touched = subscription.charges.filter(charge => before.get(charge.periodIndex) !== charge)
  const attempts = touched.flatMap(charge => charge.attempts.map(attempt => ({ charge, attempt })))
  return {
    newCharges: touched.filter(charge => !before.has(charge.periodIndex)).map(chargeRow),
    charges: touched.filter(charge => before.has(charge.periodIndex)).map(chargeRow),
    newAttempts: attempts.filter(({ attempt }) => !known.has(attempt.orderId)).map(attemptRow),
    attempts: attempts.filter(({ attempt }) => known.has(attempt.orderId) && known.get(attempt.orderId) !== attempt).map(attemptRow),
  }
}

const chargeRow = ({ periodIndex, status, brlCentavos, issuedAt, paidAt }: Charge) => ({
  period_index: periodIndex,
  status,
  brl_centavos: brlCentavos.toString(),
  issued_at: issuedAt,
  paid_at: paidAt,
})

const attemptRow = ({ charge, attempt }: { charge: Charge; attempt: Attempt }) => ({
  order_id: attempt.orderId,
  period_index: charge.periodIndex,
  memo: attempt.memo,
  status: attempt.status,
  issued_at: attempt.issuedAt,
})

const answerRow = (answer: KeptAnswer) => ({
  merchant_id: answer.merchantId,
  route: answer.route,
  key: answer.key,
  body_hash: answer.bodyHash,
  status: answer.status,
  body: 'body' in answer ? answer.body : null,
  order_id: 'orderId' in answer ? answer.orderId : null,
})
