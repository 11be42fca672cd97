import type { NewEvent } from '@ponte/contracts'
import { type Database, markSpan, type OutboxRows, toOutbox, uuidv7 } from '@ponte/service-kit'
import type { Block } from '../logs/block'
import type { Payment } from '../payment'
import { mapLeaseLoss } from './lease'
import type { Cursor } from './position'

/** Everything that one step changes. */
export interface Step {
  cursor: Cursor
  head: number
  /** Blocks to remember. */
  blocks: readonly Block[]
  /** Forget remembered blocks above this number first: they are not part of the chain any more. */
  forgetAbove?: number
  /** How far the late routers have come; null when they are level with the cursor. */
  late?: { routers: readonly string[]; scanned: number | null }
  /** Orders whose deposit addresses are level with the cursor from now on. */
  level?: readonly string[]
  payments: readonly Payment[]
  events: readonly NewEvent[]
}

const COMMIT = `
  WITH cursor AS (
    UPDATE chain_cursor SET epoch = CASE WHEN epoch = $2 THEN epoch END, scanned_number = $3, scanned_hash = $4, scanned_time = $5,
      confirmed_number = $6, confirmed_time = $7, announced_number = $8, head_number = $9, sequence = $10, updated_at = now()
    WHERE chain_id = $1),
  forgotten AS (DELETE FROM blocks WHERE chain_id = $1 AND number > $32),
  late AS (UPDATE routers SET late_scanned = $34 WHERE chain_id = $1 AND address = ANY($33::text[])),
  deposits AS (
    UPDATE payables SET level = level OR order_id = ANY($36::uuid[]), moved_at = CASE WHEN address = ANY($37::text[]) THEN $6 ELSE moved_at END
    WHERE chain_id = $1 AND order_id = ANY(ARRAY(
      SELECT unnest($36::uuid[]) UNION ALL SELECT order_id FROM payables WHERE chain_id = $1 AND address = ANY($37::text[])))),
  remembered AS (
    INSERT INTO blocks (chain_id, number, hash, parent_hash, time)
    SELECT $1, * FROM unnest($11::bigint[], $12::text[], $13::text[], $14::timestamptz[])
    ON CONFLICT (chain_id, number) DO UPDATE SET hash = EXCLUDED.hash, parent_hash = EXCLUDED.parent_hash, time = EXCLUDED.time),
  written AS (
    INSERT INTO payments (chain_id, tx_hash, ordinal, state, revision, router, memo, merchant, payer, share, fee, block_number, block_hash,
      block_time, log_index, deposit)
    SELECT $1, tx_hash, ordinal, state, revision, router, memo, merchant, payer, share, fee, block_number, block_hash,
      to_timestamp(block_time), log_index, deposit
    FROM unnest($15::text[], $16::int[], $17::text[], $18::int[], $19::text[], $20::text[], $21::text[], $22::text[], $23::numeric[],
      $24::numeric[], $25::bigint[], $26::text[], $27::float8[], $28::int[], $35::text[])
      AS new (tx_hash, ordinal, state, revision, router, memo, merchant, payer, share, fee, block_number, block_hash, block_time, log_index,
        deposit)
    ON CONFLICT (chain_id, tx_hash, ordinal) DO UPDATE SET state = EXCLUDED.state, revision = EXCLUDED.revision,
      block_number = EXCLUDED.block_number, block_hash = EXCLUDED.block_hash, block_time = EXCLUDED.block_time,
      log_index = EXCLUDED.log_index)
  INSERT INTO outbox (id, type, body)
  SELECT id, type, body FROM unnest($29::uuid[], $30::text[], string_to_array($31, E'\\n')) AS new (id, type, body)`

/**
 * One step, one statement: cursor, blocks, payments and outbox together or not at all. An epoch that moved on becomes NULL, which the column
 * refuses, and everything is undone. Throws LeaseLostError then.
 */
export function committer(database: Database, chainId: number, now: () => Date) {
  return async (epoch: bigint, step: Step): Promise<void> => {
    await mapLeaseLoss(database.query({ name: 'commit-step', text: COMMIT }, [chainId, epoch, ...toColumns(step, now())]))
  }
}

const NO_BLOCK = Number.MAX_SAFE_INTEGER

function toColumns({ cursor, head, blocks, payments, events, forgetAbove, late, level }: Step, at: Date): unknown[] {
  const outbox = toRows(events, at)
  const column = (pick: (payment: Payment) => string | number | bigint) => literal(payments.map(pick))
  return [
    cursor.scanned.number,
    cursor.scanned.hash,
    cursor.scanned.time,
    cursor.confirmed.number,
    cursor.confirmed.time,
    cursor.announced,
    head,
    cursor.sequence,
    blocks.map(block => block.number),
    blocks.map(block => block.hash),
    blocks.map(block => block.parentHash),
    blocks.map(block => new Date(block.time * 1_000)),
    column(payment => payment.txHash),
    column(payment => payment.ordinal),
    column(payment => payment.state),
    column(payment => payment.revision),
    column(payment => payment.router),
    column(payment => payment.memo),
    column(payment => payment.merchant),
    column(payment => payment.payer),
    column(payment => payment.share),
    column(payment => payment.fee),
    column(payment => payment.blockNumber),
    column(payment => payment.blockHash),
    column(payment => payment.blockTime),
    column(payment => payment.logIndex),
    literal(outbox.ids),
    literal(outbox.types),
    // JSON text holds no line break, so the bodies travel as lines: escaping them as array elements costs more than all the rest.
    outbox.bodies.length === 0 ? null : outbox.bodies.join('\n'),
    forgetAbove ?? NO_BLOCK,
    late ? [...late.routers] : [],
    late?.scanned ?? null,
    column(payment => payment.deposit ?? 'NULL'),
    level ?? [],
    // What came to stay, or is gone: only then another balance is to be expected at the confirmed depth.
    payments.flatMap(({ deposit, state }) => (deposit === null || state === 'detected' ? [] : [deposit])),
  ]
}

/**
 * Outbox rows. Payment events are not put through their schema one by one, which would cost more than writing them: they are made of checked
 * values in one place, and its tests hold what it makes against the schema. Everything else is checked here.
 */
function toRows(events: readonly NewEvent[], at: Date): OutboxRows {
  const isPayment = (event: NewEvent): event is Extract<NewEvent, { type: `payment.${string}` }> => event.type.startsWith('payment.')
  const rows = toOutbox(
    events.filter(event => !isPayment(event)),
    at,
  )
  const occurredAt = at.toISOString()
  for (const { type, data } of events.filter(isPayment)) {
    const id = uuidv7()
    rows.ids.push(id)
    rows.types.push(type)
    const about = { service: 'chain-listener', block_number: data.block_number, tx_hash: data.tx_hash }
    const trace = markSpan(type, { kind: 'producer', attributes: about })
    rows.bodies.push(JSON.stringify({ id, type, occurred_at: occurredAt, data, trace }))
  }
  return rows
}

/** An array of hex, digits and words, which need no escaping, as PostgreSQL writes it: several times quicker than the driver's own way. */
const literal = (values: readonly (string | number | bigint)[]) => `{${values.join(',')}}`
