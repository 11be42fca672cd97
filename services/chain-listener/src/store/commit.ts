import type { NewEvent } from '@ponte/contracts'
import { commitUnit, type Database, markSpan, type OutboxRow, outboxRows, type Statement, uuidv7 } from '@ponte/service-kit'
import type { BlockedDeposit } from '../events'
import type { Block } from '../logs/block'
import type { Payment } from '../payment'
import { mapLeaseLoss } from './lease'
import type { Cursor } from './position'
import type { Rescan } from './rescans'

/** How far these orders' deposit addresses have been read; synced when that is up to the cursor. */
export interface DepositProgress {
  orderIds: readonly string[]
  readTo: number
  synced: boolean
}

/** Everything that one step changes. */
export interface Step {
  cursor: Cursor
  head: number
  /** Blocks to remember. */
  blocks: readonly Block[]
  /** Forget remembered blocks above this number first: they are not part of the chain any more. */
  forgetAbove?: number | undefined
  /** How far the routers that were added have been read; null when they are level with the cursor. */
  routers?: { addresses: readonly string[]; readTo: number | null } | undefined
  deposits?: DepositProgress | undefined
  /** How far blocks have been read once more. */
  rescan?: Rescan | undefined
  /** Deposits whose state of being blocked these events publish. */
  blocked?: readonly BlockedDeposit[] | undefined
  payments: readonly Payment[]
  events: readonly NewEvent[]
}

// Raw SQL because a step is one statement. The payments travel as arrays, not as records: while catching up, encoding them as JSON costs more than writing them.
const COMMIT: Statement = {
  name: 'commit-step',
  text: `
  WITH cursor AS (
    UPDATE chain_cursor SET epoch = CASE WHEN epoch = $epoch THEN epoch END, scanned_number = $scanned_number, scanned_hash = $scanned_hash,
      scanned_time = $scanned_time, confirmed_number = $confirmed_number, confirmed_time = $confirmed_time,
      announced_number = $announced_number, head_number = $head_number, sequence = $sequence, updated_at = now()
    WHERE chain_id = $chain_id),
  forgotten AS (DELETE FROM blocks WHERE chain_id = $chain_id AND number > $forget_above),
  followed AS (UPDATE routers SET late_scanned = $routers_read_to WHERE chain_id = $chain_id AND address = ANY($routers::text[])),
  rescanned AS (UPDATE rescans SET read_to = $rescan_read_to WHERE chain_id = $chain_id AND from_block = $rescan_from AND to_block = $rescan_to),
  deposits AS (
    UPDATE payables SET synced = synced OR ($synced AND order_id = ANY($read_orders::uuid[])),
      read_to = CASE WHEN order_id = ANY($read_orders::uuid[]) THEN $read_to WHEN synced THEN read_to ELSE least(read_to, $forget_above) END,
      moved_at = CASE WHEN address = ANY($moved::text[]) THEN $confirmed_number ELSE moved_at END
    WHERE chain_id = $chain_id AND order_id = ANY(ARRAY(
      SELECT unnest($read_orders::uuid[])
      UNION ALL SELECT order_id FROM payables WHERE chain_id = $chain_id AND address = ANY($moved::text[])
      UNION ALL SELECT order_id FROM payables
        WHERE chain_id = $chain_id AND NOT synced AND address IS NOT NULL AND read_to > $forget_above))),
  published AS (
    UPDATE payables SET blocked_published = revision
    FROM unnest($blocked_orders::uuid[], $blocked_revisions::int[]) AS change (order_id, revision)
    WHERE payables.chain_id = $chain_id AND payables.order_id = change.order_id),
  remembered AS (
    INSERT INTO blocks (chain_id, number, hash, parent_hash, time)
    SELECT $chain_id, * FROM unnest($block_numbers::bigint[], $block_hashes::text[], $parent_hashes::text[], $block_times::timestamptz[])
    ON CONFLICT (chain_id, number) DO UPDATE SET hash = EXCLUDED.hash, parent_hash = EXCLUDED.parent_hash, time = EXCLUDED.time)
  INSERT INTO payments (chain_id, tx_hash, ordinal, kind, state, revision, router, memo, merchant, payer, amount, deposit, block_number,
    block_hash, block_time, log_index)
  SELECT $chain_id, tx_hash, ordinal, kind, state, revision, router, memo, merchant, payer, amount, deposit, block_number, block_hash,
    to_timestamp(block_time), log_index
  FROM unnest($tx_hash::text[], $ordinal::int[], $kind::text[], $state::text[], $revision::int[], $router::text[], $memo::text[],
    $merchant::text[], $payer::text[], $amount::numeric[], $deposit::text[], $block_number::bigint[], $block_hash::text[],
    $block_time::float8[], $log_index::int[])
    AS new (tx_hash, ordinal, kind, state, revision, router, memo, merchant, payer, amount, deposit, block_number, block_hash, block_time,
      log_index)
  ON CONFLICT (chain_id, tx_hash, ordinal) DO UPDATE SET state = EXCLUDED.state, revision = EXCLUDED.revision,
    block_number = EXCLUDED.block_number, block_hash = EXCLUDED.block_hash, block_time = EXCLUDED.block_time,
    log_index = EXCLUDED.log_index`,
}

/**
 * One step, one statement: cursor, blocks, payments, deposits and outbox together or not at all. An epoch that moved on becomes NULL, which the
 * column refuses, and everything is rolled back. Throws LeaseLostError then.
 */
export function committer(database: Database, chainId: number, now: () => Date) {
  return async (epoch: bigint, step: Step): Promise<void> => {
    const events = toOutboxRows(step.events, now())
    await mapLeaseLoss(commitUnit(database, { events, write: COMMIT, values: { chain_id: chainId, epoch, ...toValues(step) } }))
  }
}

const NO_BLOCK = Number.MAX_SAFE_INTEGER

function toValues({ cursor, head, blocks, forgetAbove, routers, deposits, rescan, blocked = [], payments }: Step): Record<string, unknown> {
  const column = (pick: (payment: Payment) => string | number | bigint) => literal(payments.map(pick))
  return {
    scanned_number: cursor.scanned.number,
    scanned_hash: cursor.scanned.hash,
    scanned_time: cursor.scanned.time,
    confirmed_number: cursor.confirmed.number,
    confirmed_time: cursor.confirmed.time,
    announced_number: cursor.announced,
    head_number: head,
    sequence: cursor.sequence,
    forget_above: forgetAbove ?? NO_BLOCK,
    routers: routers?.addresses ?? [],
    routers_read_to: routers?.readTo ?? null,
    rescan_from: rescan?.from ?? null,
    rescan_to: rescan?.to ?? null,
    rescan_read_to: rescan?.readTo ?? null,
    read_orders: deposits?.orderIds ?? [],
    read_to: deposits?.readTo ?? 0,
    synced: deposits?.synced ?? false,
    blocked_orders: blocked.map(one => one.orderId),
    blocked_revisions: blocked.map(one => one.revision),
    block_numbers: blocks.map(block => block.number),
    block_hashes: blocks.map(block => block.hash),
    parent_hashes: blocks.map(block => block.parentHash),
    block_times: blocks.map(block => new Date(block.time * 1_000)),
    tx_hash: column(payment => payment.txHash),
    ordinal: column(payment => payment.ordinal),
    kind: column(payment => payment.kind),
    state: column(payment => payment.state),
    revision: column(payment => payment.revision),
    router: column(payment => payment.router),
    memo: column(payment => payment.memo),
    merchant: column(payment => payment.merchant),
    payer: column(payment => payment.payer),
    amount: column(payment => payment.amount),
    deposit: column(payment => payment.deposit ?? 'NULL'),
    block_number: column(payment => payment.blockNumber),
    block_hash: column(payment => payment.blockHash),
    block_time: column(payment => payment.blockTime),
    log_index: column(payment => payment.logIndex),
    // A balance changes at the confirmed depth only by what is confirmed or taken away.
    moved: payments.flatMap(({ deposit, state }) => (deposit === null || state === 'detected' ? [] : [deposit])),
  }
}

type LedgerEvent = Extract<NewEvent, { type: `payment.${string}` | `sweep.${string}` }>
const isLedgerEvent = (event: NewEvent): event is LedgerEvent => event.type.startsWith('payment.') || event.type.startsWith('sweep.')

/**
 * Payments and sweeps are not put through their schema one by one, which would cost more than writing them: they are made of checked values in
 * one place, and its tests hold what it makes against the schema. Everything else is checked here.
 */
function toOutboxRows(events: readonly NewEvent[], at: Date): OutboxRow[] {
  const occurredAt = at.toISOString()
  const ledger = events.filter(isLedgerEvent).map(({ type, data }) => {
    const id = uuidv7()
    const attributes = { service: 'chain-listener', block_number: data.block_number, tx_hash: data.tx_hash }
    const trace = markSpan(type, { kind: 'producer', attributes })
    return { id, type, body: JSON.stringify({ id, type, occurred_at: occurredAt, data, trace }) }
  })
  const others = events.filter(event => !isLedgerEvent(event))
  return [...ledger, ...outboxRows(others, at)]
}

/** An array of hex, digits and words, which need no escaping, as PostgreSQL writes it: several times quicker than the driver's own way. */
const literal = (values: readonly (string | number | bigint)[]) => `{${values.join(',')}}`
