import { type ListAttention, recoveryFailure } from '@ponte/contracts'
import {
  type Database,
  int,
  outboxRows,
  type Statement,
  type StoredAnswer,
  table,
  text,
  time,
  units,
  updateVersioned,
} from '@ponte/service-kit'
import type { Mark, Seen } from '../payment/mismatch'
import { type ForeignToken, type FoundToken, recoveryWatch, watched } from '../recovery/recovery'
import { IS_OF_BEFORE, IS_REVERSIBLE } from './chain'

const found = {
  id: text,
  orderId: text,
  merchantId: text,
  chainId: int,
  tokenAddress: text,
  units,
  txHash: text,
  sentAt: time,
  foundAt: time,
}
const finds = table('foreign_tokens', found)
const tokens = table('foreign_tokens', {
  ...found,
  version: int,
  recoveryId: text.nullable(),
  requestedBy: text.nullable(),
  requestedAt: time.nullable(),
  watchFrom: units.nullable(),
  generation: text.nullable(),
  revision: int,
  knownAt: time.nullable(),
  failureCode: recoveryFailure.nullable(),
  recoveredUnits: units.nullable(),
  recoveryTxHash: text.nullable(),
  blockNumber: units.nullable(),
  blockTime: time.nullable(),
})
const changing = tokens.columns.filter(column => column !== 'version' && !finds.columns.includes(column))

/** A token whose item was handled comes back once this is another. */
const FACTS = "(tx_hash || '/' || coalesce(recovery_id::text, '') || '/' || coalesce(failure_code, ''))"
const MARKED = `${tokens.select()}, ${FACTS} AS facts, handled_at, handled_by, handled_note, handled_facts FROM foreign_tokens`

// Raw SQL: of two that are kept at once more than the most may stay, by a few. More of what was sent on already is found anew; of what lies there still it is the same case.
const KEEP: Statement = {
  name: 'foreign-tokens-keep',
  text: `
  INSERT INTO foreign_tokens (${finds.columns.join(', ')})
  SELECT ${finds.columns.join(', ')} FROM json_populate_recordset(NULL::foreign_tokens, $foreign_tokens)
  LIMIT greatest(0, $most::int - (SELECT count(*) FROM foreign_tokens WHERE order_id = $order_id::uuid AND NOT (chain_id = $chain_id::int AND token_address = ANY($tokens::text[]))))
  ON CONFLICT (order_id, chain_id, token_address) DO UPDATE SET units = EXCLUDED.units, tx_hash = EXCLUDED.tx_hash, sent_at = EXCLUDED.sent_at,
    found_at = EXCLUDED.found_at, version = foreign_tokens.version + 1
  WHERE foreign_tokens.sent_at < foreign_tokens.block_time AND EXCLUDED.sent_at >= foreign_tokens.block_time`,
}
const COMMIT: Statement = { name: 'foreign-token-commit', text: updateVersioned('foreign_tokens', changing) }
const MARK: Statement = {
  name: 'foreign-token-mark',
  text: 'UPDATE foreign_tokens SET handled_at = $at, handled_by = $by, handled_facts = $facts, handled_note = $note WHERE id = $id',
}

// Raw SQL: an index finds those of each kind. What was not heard of for long, or in an earlier generation, the listener may have lost, and with it
// that a reorganisation took back what was recovered.
const UNHEARD = `
  SELECT ${tokens.select()}, memo, payout_address_on(orders, foreign_tokens.chain_id) AS "merchantAddress",
    coalesce((SELECT other ->> 'routerAddress' FROM jsonb_array_elements(networks) AS other WHERE (other ->> 'chainId')::int = foreign_tokens.chain_id),
      router_address) AS "routerAddress"
  FROM foreign_tokens JOIN orders ON orders.id = order_id
  WHERE foreign_tokens.id IN (
    SELECT id FROM foreign_tokens WHERE chain_id = $1 AND recovery_id IS NOT NULL AND block_time IS NULL AND failure_code IS NULL
      AND (known_at IS NULL OR known_at < $3 OR ${IS_OF_BEFORE})
    UNION ALL SELECT id FROM foreign_tokens
      WHERE chain_id = $1 AND ${IS_REVERSIBLE} AND ${IS_OF_BEFORE})
    AND requested_at > $2 AND (asked_at IS NULL OR asked_at < $4) ORDER BY known_at NULLS FIRST LIMIT $5`
const ASKED: Statement = { name: 'recoveries-asked', text: 'UPDATE foreign_tokens SET asked_at = $at WHERE id = ANY($ids::uuid[])' }

const PAGE = 500
const MINUTE_MS = 60_000
const HEARD_MS = 10 * MINUTE_MS
const FORGOTTEN_MS = 30 * 24 * 60 * MINUTE_MS
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** A token with what was seen of it, and the mark that was given for that. */
export interface MarkedToken {
  token: ForeignToken
  seen: Seen
  mark: Mark | null
}

interface MarkFields {
  facts: string
  handled_facts: string | null
  handled_at: Date | null
  handled_by: string | null
  handled_note: string | null
}

function toMarked(row: MarkFields): MarkedToken {
  const { facts, handled_facts, handled_at: at, handled_by: by, handled_note: note } = row
  return {
    token: tokens.parse(row),
    seen: { facts, blocked: null },
    mark: at !== null && handled_facts === facts ? { at, by, note } : null,
  }
}

/** Tokens that no order takes, at the deposit addresses of orders. They change neither an order nor its money. */
export function foreignTokenStore(database: Database, now: () => Date) {
  const read = async (name: string, rest: string, values: readonly unknown[]): Promise<MarkedToken[]> =>
    (await database.query<MarkFields>({ name, text: `SELECT ${MARKED} ${rest}` }, [...values])).rows.map(toMarked)
  return {
    /** Keeps what was found for an order on one of its networks, so long as it has no more than the most. */
    async keep(orderId: string, chainId: number, some: readonly FoundToken[], most: number): Promise<void> {
      if (some.length === 0) return
      const rows = { foreign_tokens: some.map(one => finds.record(one)) }
      await database.commit({
        write: KEEP,
        rows,
        values: { order_id: orderId, chain_id: chainId, most, tokens: some.map(one => one.tokenAddress) },
      })
    },

    async find(id: string): Promise<MarkedToken | null> {
      return (await read('foreign-token-find', 'WHERE id = $1', [id]))[0] ?? null
    },

    /** In the order in which they were found. */
    async ofOrder(orderId: string): Promise<ForeignToken[]> {
      return (await read('foreign-tokens-of-order', 'WHERE order_id = $1 ORDER BY id', [orderId])).map(({ token }) => token)
    },

    /** Tokens that lie there, newest first, by keyset; or those that were marked. */
    async list(merchantId: string, query: ListAttention, limit: number): Promise<MarkedToken[]> {
      if (query.reason !== undefined && query.reason !== 'foreign_token') return []
      const along = query.ending_before === undefined ? 'DESC' : 'ASC'
      const which =
        query.handled === 'true'
          ? `handled_facts = ${FACTS}`
          : `handled_facts IS DISTINCT FROM ${FACTS} AND (block_time IS NULL OR sent_at >= block_time)`
      const values = [merchantId, query.ending_before ?? FIRST_ID, query.starting_after ?? LAST_ID, limit, query.chain_id ?? null]
      const rest = `WHERE merchant_id = $1 AND id > $2 AND id < $3 AND ($5::int IS NULL OR chain_id = $5) AND ${which} ORDER BY id ${along} LIMIT $4`
      return read(`foreign-tokens-${query.handled === 'true' ? 'handled' : 'open'}-${along}`, rest, values)
    },

    /** Writes its recovery as it is from now on. Throws an error that `isStale` knows when it moved on since it was read. */
    async commit(
      token: ForeignToken,
      {
        eventId,
        events = [],
        answers = [],
      }: { eventId?: string; events?: ReturnType<typeof outboxRows>; answers?: readonly StoredAnswer[] },
    ): Promise<void> {
      const rows = { foreign_tokens: [tokens.record(token)] }
      await database.commit({ ...(eventId === undefined ? {} : { inbox: [eventId] }), events, answers, write: COMMIT, rows })
    },

    async ignore(eventId: string): Promise<void> {
      await database.commit({ inbox: [eventId] })
    },

    async mark(id: string, mark: (Mark & Seen) | null, answers: StoredAnswer[]): Promise<void> {
      const { at = null, by = null, note = null, facts = null } = mark ?? {}
      await database.commit({ write: MARK, values: { id, at, by, note, facts }, answers })
    },

    /** Asks the listener about recoveries that it was not heard of for long. Resolves to whether there may be more. */
    async askUnheard(chainId: number): Promise<boolean> {
      const at = now()
      const before = (ms: number) => new Date(at.getTime() - ms)
      const values = [chainId, before(FORGOTTEN_MS), before(HEARD_MS), before(MINUTE_MS), PAGE]
      const { rows } = await database.query<Target>({ name: 'recoveries-unheard', text: UNHEARD }, values)
      if (rows.length === 0) return false
      const asked = rows.map(row => ({ token: tokens.parse(row), ...row }))
      const event = recoveryWatch(
        asked.map(({ token, ...order }) => watched(token, order)),
        chainId,
      )
      await database.commit({ events: outboxRows([event], at), write: ASKED, values: { at, ids: asked.map(({ token }) => token.id) } })
      return rows.length === PAGE
    },
  }
}

type Target = { memo: string; routerAddress: string; merchantAddress: string }
