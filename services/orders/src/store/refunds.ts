import {
  type Database,
  insertRows,
  int,
  type OutboxRow,
  outboxRows,
  type Statement,
  type StoredAnswer,
  table,
  text,
  time,
  units,
} from '@ponte/service-kit'
import { z } from 'zod'
import type { RefundClaim } from '../refund/claim'
import { refundWatch, type StoredRefund } from '../refund/stored-refund'
import { IS_OF_BEFORE, IS_REVERSIBLE } from './chain'
import { refundClaims } from './refund-claims'

const refunds = table('refunds', {
  id: text,
  orderId: text,
  merchantId: text,
  chainId: int,
  units,
  payee: text,
  fromAddress: text,
  nonce: text,
  watchFrom: units,
  reason: text,
  requestedBy: text.nullable(),
  approvedBy: text.nullable(),
  approvedAt: time.nullable(),
  createdAt: time,
  cancelledAt: time.nullable(),
  generation: text.nullable(),
  revision: int,
  knownBlock: units.nullable(),
  knownTime: time.nullable(),
  knownAt: time.nullable(),
  walletUnits: units.nullable(),
  ended: z.enum(['transferred', 'cancelled']).nullable(),
  txHash: text.nullable(),
  logIndex: int.nullable(),
  blockNumber: units.nullable(),
  blockTime: time.nullable(),
})
const signatures = table('refund_signatures', { refundId: text, validBefore: time, signature: text.nullable(), seenAt: time })
const signature = z.array(z.object({ validBefore: time, signature: text.nullable(), seenAt: time }))

const FIND = `
  SELECT ${refunds.select()}, coalesce((SELECT json_agg(${signatures.json('seen')} ORDER BY valid_before) FROM refund_signatures AS seen
    WHERE seen.refund_id = refunds.id), '[]') AS seen FROM refunds`
const toStored = (row: object): StoredRefund => ({ ...refunds.parse(row), signatures: signature.parse(Reflect.get(row, 'seen')) })

const CLAIM_CHANGES = [
  ...refundClaims.columnsOf('cancelledAt', 'claimedAt', 'txHash', 'refundId'),
  ...refundClaims.columnsOf('email', 'codeHash', 'codeIssuedAt', 'codesIssued', 'codeTries'),
]
const taken = (columns: readonly string[]) => columns.map(column => `${column} = EXCLUDED.${column}`).join(', ')

// Raw SQL because it commits with its order: a version of the order that moved on becomes NULL, which the column refuses, so of two that are decided at once one is
// decided again. Money that came or went meanwhile changes the order, too.
const COMMIT: Statement = {
  name: 'refund-commit',
  text: `
  WITH decided AS (
    UPDATE orders SET version = CASE WHEN version = $order_version::int THEN version + 1 END, promised_units = coalesce($promised_units::bigint, promised_units)
    WHERE id = $order_id::uuid),
  seen AS (${insertRows('refund_signatures', signatures.columns)} ON CONFLICT DO NOTHING),
  claimed AS (${insertRows('refund_claims', refundClaims.columns)} ON CONFLICT (id) DO UPDATE SET ${taken(CLAIM_CHANGES)})
  ${insertRows('refunds', refunds.columns)}
  ON CONFLICT (id) DO UPDATE SET ${taken([
    ...refunds.columnsOf(
      'approvedBy',
      'approvedAt',
      'cancelledAt',
      'generation',
      'revision',
      'knownBlock',
      'knownTime',
      'knownAt',
      'walletUnits',
    ),
    ...refunds.columnsOf('ended', 'txHash', 'logIndex', 'blockNumber', 'blockTime'),
  ])}`,
}

// Raw SQL: an index finds those of each kind. The listener answers when something changed and when it is asked; what it was not heard of for long, or
// in an earlier generation, it may have lost, and with it that a reorganisation took back what had gone. A wallet may have signed what was cancelled here.
// One of which no signature is known costs a merchant nothing, and is asked about once a day.
const UNHEARD = `${FIND} WHERE refunds.id IN (
    SELECT id FROM refunds WHERE ended IS NULL AND (known_at IS NULL OR ${IS_OF_BEFORE}
      OR known_at < CASE WHEN EXISTS (SELECT 1 FROM refund_signatures WHERE refund_id = refunds.id) THEN $3::timestamptz ELSE $6::timestamptz END)
    UNION ALL SELECT id FROM refunds
      WHERE ${IS_REVERSIBLE} AND ${IS_OF_BEFORE})
  AND chain_id = $1 AND (cancelled_at IS NULL OR cancelled_at > $2) AND (asked_at IS NULL OR asked_at < $4) ORDER BY known_at NULLS FIRST LIMIT $5`
const ASKED: Statement = { name: 'refunds-asked', text: 'UPDATE refunds SET asked_at = $at WHERE id = ANY($ids::uuid[])' }

const PAGE = 500
const MINUTE_MS = 60_000
const HEARD_MS = 10 * MINUTE_MS
const UNSIGNED_HEARD_MS = 24 * 60 * MINUTE_MS
const FORGOTTEN_MS = 30 * 24 * 60 * MINUTE_MS

export interface RefundCause {
  eventId?: string
  events?: readonly OutboxRow[]
  answers?: readonly StoredAnswer[]
  claims?: readonly RefundClaim[]
  /** The sum of its refunds, done and still possible; as it was where none is changed. */
  promisedUnits?: bigint
}

export function refundStore(database: Database, now: () => Date) {
  return {
    async find(id: string): Promise<StoredRefund | null> {
      const { rows } = await database.query({ name: 'refund-find', text: `${FIND} WHERE refunds.id = $1` }, [id])
      return rows[0] ? toStored(rows[0]) : null
    },

    async ofOrder(orderId: string): Promise<StoredRefund[]> {
      return (
        await database.query({ name: 'refunds-of-order', text: `${FIND} WHERE order_id = $1 ORDER BY refunds.id` }, [orderId])
      ).rows.map(toStored)
    },

    /** Of each of these orders, in the order in which they were made. */
    async ofOrders(orderIds: readonly string[]): Promise<(orderId: string) => StoredRefund[]> {
      const { rows } = await database.query(
        { name: 'refunds-of-orders', text: `${FIND} WHERE order_id = ANY($1::uuid[]) ORDER BY refunds.id` },
        [orderIds],
      )
      const found = Map.groupBy(rows.map(toStored), ({ orderId }) => orderId)
      return orderId => found.get(orderId) ?? []
    },

    /** Writes refunds as they are from now on. Throws an error that `isStale` knows when its order moved on since it was read. */
    async commit(
      order: { id: string; version: number },
      changed: readonly StoredRefund[],
      { eventId, events = [], answers = [], claims = [], promisedUnits }: RefundCause,
    ): Promise<void> {
      await database.commit({
        ...(eventId === undefined ? {} : { inbox: [eventId] }),
        events,
        answers,
        write: COMMIT,
        rows: {
          refunds: changed.map(refunds.record),
          refund_signatures: changed.flatMap(({ id, signatures: all }) => all.map(seen => signatures.record({ ...seen, refundId: id }))),
          refund_claims: claims.map(refundClaims.record),
        },
        values: { order_id: order.id, order_version: order.version, promised_units: promisedUnits ?? null },
      })
    },

    async ignore(eventId: string): Promise<void> {
      await database.commit({ inbox: [eventId] })
    },

    /** Asks the listener about those that it was not heard of for long. Resolves to whether there may be more. */
    async askUnheard(chainId: number): Promise<boolean> {
      const at = now()
      const before = (ms: number) => new Date(at.getTime() - ms)
      const values = [chainId, before(FORGOTTEN_MS), before(HEARD_MS), before(MINUTE_MS), PAGE, before(UNSIGNED_HEARD_MS)]
      const found = (await database.query({ name: 'refunds-unheard', text: UNHEARD }, values)).rows.map(toStored)
      if (found.length === 0) return false
      const asked = { at, ids: found.map(({ id }) => id) }
      await database.commit({ events: outboxRows([refundWatch(found, chainId)], at), write: ASKED, values: asked })
      return found.length === PAGE
    },
  }
}
