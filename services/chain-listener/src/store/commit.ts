import { commitUnit, type Database, markSpan, type OutboxRow, type Statement, uuidv7 } from '@ponte/service-kit'
import type { BlocksDraft } from '../events'
import type { Block } from '../logs/block'
import type { Payment } from '../payment'
import type { Answer } from './answers'
import { mapLeaseLoss } from './lease'
import type { Cursor } from './position'

/** Blocks that were read for these subjects. */
export interface Covered {
  subjects: readonly string[]
  from: number
  to: number
}

export interface Step {
  /** Its `version` is one more than the database has. */
  cursor: Cursor
  head: number
  blocks: readonly Block[]
  /** Forget remembered blocks above this number first: they are not part of the chain any more. */
  forgetAbove?: number | undefined
  covered?: Covered | undefined
  answers?: readonly Answer[] | undefined
  /** From which block on orders still misses what is confirmed; null when it misses nothing any more. */
  republishFrom?: number | null | undefined
  payments: readonly Payment[]
  events: readonly BlocksDraft[]
}

// Raw SQL because a step is one statement. The payments travel as arrays, not as records: while catching up, encoding them as JSON costs more than writing them.
// A block's payment known before its receipts were read may have had other terms: the last statement holds.
// After a reorganisation the scan itself reads everything above the ancestor, for all that it reads for by then; an address that came meanwhile is owed that.
const COMMIT: Statement = {
  name: 'commit-step',
  text: `
  WITH cursor AS (
    UPDATE chain_cursor SET epoch = CASE WHEN epoch = $epoch AND generation = $generation::uuid AND version = $version::bigint - 1 THEN epoch END,
      version = $version, scanned_number = $scanned_number, scanned_hash = $scanned_hash,
      scanned_time = $scanned_time, confirmed_number = $confirmed_number, confirmed_time = $confirmed_time,
      announced_number = $announced_number, head_number = $head_number, updated_at = now(),
      republish_from = CASE WHEN $republished::boolean THEN $republish_from::bigint ELSE republish_from END
    WHERE chain_id = $chain_id),
  forgotten AS (DELETE FROM blocks WHERE chain_id = $chain_id AND number > $forget_above),
  covered AS (
    UPDATE coverage SET blocks = blocks + int8multirange(int8range($covered_from::bigint, $covered_to::bigint + 1))
    WHERE $covered_from::bigint IS NOT NULL AND chain_id = $chain_id AND subject = ANY($subjects::text[])),
  gone AS (
    UPDATE coverage SET blocks = blocks + int8multirange(int8range($forget_above + 1, NULL))
    WHERE $goes_back::boolean AND $covered_from::bigint IS NULL AND chain_id = $chain_id AND upper_inf(blocks) AND blocks <> '{(,)}'::int8multirange),
  answered AS (
    UPDATE payables SET answered = CASE WHEN answer.doubted THEN answered ELSE answer.asked END, doubted = payables.doubted AND NOT answer.doubted
    FROM unnest($answered_orders::uuid[], $answered_asked::int[], $answered_doubted::boolean[]) AS answer (order_id, asked, doubted)
    WHERE payables.chain_id = $chain_id AND payables.order_id = answer.order_id),
  moved AS (
    UPDATE payables SET moved_at = $confirmed_number WHERE chain_id = $chain_id AND address = ANY($moved::text[])
      AND order_id <> ALL($answered_orders::uuid[])),
  remembered AS (
    INSERT INTO blocks (chain_id, number, hash, parent_hash, time)
    SELECT $chain_id, * FROM unnest($block_numbers::bigint[], $block_hashes::text[], $parent_hashes::text[], $block_times::timestamptz[])
    ON CONFLICT (chain_id, number) DO UPDATE SET hash = EXCLUDED.hash, parent_hash = EXCLUDED.parent_hash, time = EXCLUDED.time)
  INSERT INTO payments (chain_id, tx_hash, kind, state, router, memo, merchant, payer, amount, fee, deposit, block_number, block_hash, block_time,
    log_index)
  SELECT $chain_id, tx_hash, kind, state, router, memo, merchant, payer, amount, fee, deposit, block_number, block_hash, to_timestamp(block_time),
    log_index
  FROM unnest($tx_hash::text[], $kind::text[], $state::text[], $router::text[], $memo::text[], $merchant::text[], $payer::text[],
    $amount::numeric[], $fee::numeric[], $deposit::text[], $block_number::bigint[], $block_hash::text[], $block_time::float8[], $log_index::int[])
    AS new (tx_hash, kind, state, router, memo, merchant, payer, amount, fee, deposit, block_number, block_hash, block_time, log_index)
  ON CONFLICT (chain_id, block_hash, log_index) DO UPDATE SET state = EXCLUDED.state, tx_hash = EXCLUDED.tx_hash, kind = EXCLUDED.kind,
    router = EXCLUDED.router, memo = EXCLUDED.memo, merchant = EXCLUDED.merchant, payer = EXCLUDED.payer, amount = EXCLUDED.amount,
    fee = coalesce(EXCLUDED.fee, payments.fee), deposit = EXCLUDED.deposit, block_time = EXCLUDED.block_time`,
}

/**
 * One step, one statement: cursor, blocks, payments, coverage and outbox together or not at all. An epoch that moved on, or a cursor that is not the
 * one that this step was decided on, becomes NULL, which the column refuses, and everything is rolled back. Throws LeaseLostError then.
 */
export function committer(database: Database, chainId: number, now: () => Date) {
  return async (epoch: bigint, step: Step): Promise<void> => {
    const events = toOutboxRows(step.events, now())
    await mapLeaseLoss(commitUnit(database, { events, write: COMMIT, values: { chain_id: chainId, epoch, ...toValues(step) } }))
  }
}

/** Transactions that a trace names. */
const TRACED = 10
const NO_BLOCK = Number.MAX_SAFE_INTEGER

function toValues({ cursor, head, blocks, forgetAbove, covered, answers = [], republishFrom, payments }: Step): Record<string, unknown> {
  const column = (pick: (payment: Payment) => string | number | bigint) => literal(payments.map(pick))
  return {
    generation: cursor.generation,
    version: cursor.version,
    scanned_number: cursor.scanned.number,
    scanned_hash: cursor.scanned.hash,
    scanned_time: cursor.scanned.time,
    confirmed_number: cursor.confirmed.number,
    confirmed_time: cursor.confirmed.time,
    announced_number: cursor.announced,
    head_number: head,
    republished: republishFrom !== undefined,
    republish_from: republishFrom ?? null,
    forget_above: forgetAbove ?? NO_BLOCK,
    goes_back: forgetAbove !== undefined,
    covered_from: covered?.from ?? null,
    covered_to: covered?.to ?? null,
    subjects: covered?.subjects ?? [],
    answered_orders: answers.map(({ orderId }) => orderId),
    answered_asked: answers.map(({ asked }) => asked),
    answered_doubted: answers.map(({ doubted }) => doubted),
    block_numbers: blocks.map(block => block.number),
    block_hashes: blocks.map(block => block.hash),
    parent_hashes: blocks.map(block => block.parentHash),
    block_times: blocks.map(block => new Date(block.time * 1_000)),
    tx_hash: column(payment => payment.txHash),
    kind: column(payment => payment.kind),
    state: column(payment => payment.state),
    router: column(payment => payment.router),
    memo: column(payment => payment.memo),
    merchant: column(payment => payment.merchant),
    payer: column(payment => payment.payer),
    amount: column(payment => payment.amount),
    fee: column(payment => payment.fee ?? 'NULL'),
    deposit: column(payment => payment.deposit ?? 'NULL'),
    block_number: column(payment => payment.blockNumber),
    block_hash: column(payment => payment.blockHash),
    block_time: column(payment => payment.blockTime),
    log_index: column(payment => payment.logIndex),
    // A balance changes at the confirmed depth only by what is confirmed or taken away.
    moved: payments.flatMap(({ deposit, state }) => (deposit === null || state === 'detected' ? [] : [deposit])),
  }
}

/**
 * Events are not put through their schema, which would cost more than writing them: they are made of checked values in one place, and its tests hold what
 * it makes against the schema.
 */
function toOutboxRows(events: readonly BlocksDraft[], at: Date): OutboxRow[] {
  const occurredAt = at.toISOString()
  const ids: string[] = []
  return events.map(({ partsBefore = 0, ...blocks }) => {
    const data = partsBefore === 0 ? blocks : { ...blocks, parts: ids.slice(-partsBefore) }
    const id = uuidv7()
    ids.push(id)
    const tx_hash = [...new Set(data.payments.slice(0, TRACED).map(payment => payment.tx_hash))].join()
    const attributes = { service: 'chain-listener', block_number: data.advanced?.to ?? data.head, tx_hash }
    const trace = markSpan('chain.blocks', { kind: 'producer', attributes })
    return {
      id,
      type: 'chain.blocks',
      merchantId: null,
      body: JSON.stringify({ id, type: 'chain.blocks', occurred_at: occurredAt, data, trace }),
    }
  })
}

/** An array of hex, digits and words, which need no escaping, as PostgreSQL writes it: several times quicker than the driver's own way. */
const literal = (values: readonly (string | number | bigint)[]) => `{${values.join(',')}}`
