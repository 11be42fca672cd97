import { type Database, flag, int, table, text, time, units } from '@ponte/service-kit'
import { z } from 'zod'
import { mapLeaseLoss, RELAY_LEASE_GUARD } from '../../store/lease'

/** A transaction of the relayer that was signed and is not finished. */
const relays = table('relays', {
  nonce: int,
  kind: z.enum(['sweep', 'authorization', 'refund', 'recovery']),
  /** A stranger's contract runs in it: one that judges the payer's signature, or a token that is recovered. */
  wallet: flag,
  orderIds: z.array(text),
  /** Their budgets are charged. */
  merchants: z.array(text),
  payer: text.nullable(),
  /** The salt of the payer's signature, the nonce of a refund's, or the token of a recovery; null for a sweep. */
  salt: text.nullable(),
  target: text,
  data: text,
  gasLimit: units,
  maxPrice: units,
  tip: units,
  /** The highest price at which it is worth its cost. */
  worthPrice: units.nullable(),
  /** The signed bytes at each price it was offered at, cheapest first, and their hashes. */
  raws: z.array(text),
  hashes: z.array(text),
  /** Where in `raws` the transactions begin that do nothing but use the nonce. */
  noopFrom: int.nullable(),
  pricedAt: time,
  /** Since when it waits to be mined. */
  openSince: time,
})
export type Relay = ReturnType<typeof relays.parse>

/** `costUnits`: the most that it can cost, in token units. */
export type NewRelay = Omit<Relay, 'raws' | 'hashes' | 'pricedAt' | 'openSince'> & {
  raw: string
  hash: string
  costUnits: bigint
}

/** Spent on gas, in token units: all of a line, and by merchant, in the last day; by order, ever. */
export interface Spent {
  dayUnits: bigint
  /** For all merchants together for whom nothing was relayed long enough ago. */
  newMerchantsUnits: bigint
  /** Merchants with an earlier success. */
  established: ReadonlySet<string>
  /** By merchant: for keys' signatures that reverted in the last day, where the payer has paid nothing for the order by another transaction either. */
  reverted: ReadonlyMap<string, bigint>
  merchants: ReadonlyMap<string, bigint>
  orders: ReadonlyMap<string, bigint>
}

/** Mined and well, mined and reverted, or its nonce was used by something else. */
export type Outcome = 'done' | 'reverted' | 'replaced'

// Raw, because it runs at every turn.
const OPEN = `SELECT ${relays.select()} FROM relays WHERE chain_id = $1 AND sender = $2 AND outcome IS NULL ORDER BY nonce`

// Raw, because transaction, signature and the lease's guard are one statement: what is written may be sent.
const WRITE = `
  WITH ${RELAY_LEASE_GUARD}, submitted AS (
    UPDATE authorizations SET state = 'submitted', tx_hash = $14, revision = revision + 1
    WHERE $5 = 'authorization' AND chain_id = $1 AND payer = $7 AND salt = $16 AND order_id = ANY($6::uuid[]))
  INSERT INTO relays (chain_id, sender, nonce, kind, order_ids, payer, target, data, gas_limit, max_price, tip, raws, hashes, priced_at, salt,
    wallet, merchants, cost_units, worth_price, noop_from, open_since)
  VALUES ($1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, ARRAY[$13], ARRAY[$14], $15, $16, $17, $18, $19, $20, $21, $15)`

// Raw, for the same reason: the new bytes are appended to the old ones under the lease.
const REPRICE = `
  WITH ${RELAY_LEASE_GUARD}, submitted AS (
    UPDATE authorizations SET tx_hash = $7 FROM relays WHERE kind = 'authorization' AND relays.chain_id = $1 AND relays.sender = $3 AND relays.nonce = $4
      AND authorizations.chain_id = $1 AND authorizations.payer = relays.payer AND authorizations.salt = relays.salt
      AND authorizations.order_id = ANY(relays.order_ids) AND $10::int IS NULL)
  UPDATE relays SET raws = raws || $6::text, hashes = hashes || $7::text, max_price = $5, tip = $8, priced_at = $9, noop_from = $10,
    cost_units = CASE WHEN $10::int IS NULL THEN ceil(cost_units * $5 / greatest(max_price, 1)) ELSE cost_units END
  WHERE chain_id = $1 AND sender = $3 AND nonce = $4`

/** In token units. What a receipt names as cost is one node's word; the budgets believe ten times of what was reserved, and so much of what was not. */
const COST_BELIEVED = 10_000_000
// Raw, because it is guarded by the lease.
const FINISH = `
  WITH ${RELAY_LEASE_GUARD}, relayed AS (
    INSERT INTO relayed_merchants (chain_id, merchant, since)
    SELECT DISTINCT $1::bigint, merchant, created_at FROM relays, unnest(merchants) AS merchant
    WHERE chain_id = $1 AND sender = $3 AND nonce = $4 AND $5::text = 'done' ON CONFLICT (chain_id, merchant) DO NOTHING)
  UPDATE relays SET outcome = $5, mined_hash = $6, gas_used = $7, cost_units = least($8::numeric, CASE WHEN cost_units > 0 THEN 10 * cost_units ELSE ${COST_BELIEVED} END)
  WHERE chain_id = $1 AND sender = $3 AND nonce = $4`

const PART = 'sum(cost_units / greatest(cardinality(order_ids), 1))'
const OF_LINE = 'chain_id = $1 AND kind = $2 AND (wallet OR NOT $3)'
const ESTABLISHED = 'SELECT merchant FROM relayed_merchants WHERE chain_id = $1 AND since <= now() - make_interval(days => $6)'
// Raw, because the sums over arrays are one round trip, before each signature.
// A day is the last 24 hours, so that no hour gives two budgets at once.
const SPENT = `
  SELECT 'day' AS scope, '' AS key, trunc(coalesce(sum(cost_units), 0))::text AS units FROM relays
    WHERE ${OF_LINE} AND created_at > now() - interval '1 day'
  UNION ALL SELECT 'new merchants', '', trunc(coalesce(${PART}, 0))::text FROM relays, unnest(merchants) AS merchant
    WHERE ${OF_LINE} AND created_at > now() - interval '1 day' AND merchant NOT IN (${ESTABLISHED})
  UNION ALL SELECT 'established', merchant, '0' FROM (${ESTABLISHED}) AS established WHERE merchant = ANY($4)
  UNION ALL SELECT 'merchant', merchant, trunc(${PART})::text FROM relays, unnest(merchants) AS merchant
    WHERE ${OF_LINE} AND created_at > now() - interval '1 day' AND merchant = ANY($4) GROUP BY merchant
  UNION ALL SELECT 'order', order_id::text, trunc(${PART})::text FROM relays, unnest(order_ids) AS order_id
    WHERE chain_id = $1 AND kind = $2 AND order_ids && $5::uuid[] AND order_id = ANY($5::uuid[]) GROUP BY order_id
  UNION ALL SELECT 'reverted', merchant, trunc(sum(cost_units))::text FROM relays, unnest(merchants) AS merchant
    WHERE chain_id = $1 AND kind = $2 AND NOT wallet AND outcome = 'reverted' AND created_at > now() - interval '1 day' AND merchant = ANY($4)
      AND NOT EXISTS (SELECT 1 FROM payables JOIN payments USING (chain_id, memo, merchant) WHERE chain_id = $1
        AND payables.order_id = ANY(relays.order_ids) AND payments.payer = relays.payer AND payments.kind = 'router' AND payments.state <> 'orphaned')
    GROUP BY merchant`

// Raw, because transactions and signatures are reopened in one statement under the lease's guard.
const REOPEN = `
  WITH ${RELAY_LEASE_GUARD}, submitted AS (
    UPDATE authorizations SET state = 'submitted', revision = revision + 1 FROM relays WHERE kind = 'authorization' AND relays.chain_id = $1 AND relays.sender = $3 AND relays.nonce >= $4
      AND relays.outcome IS NOT NULL AND authorizations.chain_id = $1 AND authorizations.payer = relays.payer
      AND authorizations.salt = relays.salt AND authorizations.order_id = ANY(relays.order_ids) AND authorizations.state = 'paid')
  UPDATE relays SET outcome = NULL, mined_hash = NULL, gas_used = NULL, open_since = $5
  WHERE chain_id = $1 AND sender = $3 AND nonce >= $4 AND outcome IS NOT NULL`

export type RelayStore = ReturnType<typeof relayStore>

/** The relayer's nonce line. Every write is one statement that names the lease's epoch. Throws LeaseLostError. */
export function relayStore(database: Database, chainId: number, newMerchantDays: number) {
  return {
    async open(sender: string): Promise<Relay[]> {
      return (await database.query({ name: 'relays-open', text: OPEN }, [chainId, sender])).rows.map(relays.parse)
    },
    /** The next nonce after everything that was ever signed. */
    async nextNonce(sender: string): Promise<number> {
      // Raw, because it runs before each signature.
      const text = 'SELECT (max(nonce) + 1)::text AS next FROM relays WHERE chain_id = $1 AND sender = $2'
      const { rows } = await database.query<{ next: string | null }>(text, [chainId, sender])
      return Number(rows[0]?.next ?? 0)
    },
    /** Nonces between two, of the second one not, by which nothing here was ever signed: the first few. */
    async forgotten(sender: string, from: number, below: number): Promise<number[]> {
      // Raw, because Prisma cannot count up.
      const text = `
        SELECT nonce::text FROM generate_series($3::bigint, $4::bigint - 1) AS series (nonce)
        WHERE NOT EXISTS (SELECT 1 FROM relays WHERE chain_id = $1 AND sender = $2 AND relays.nonce = series.nonce) LIMIT 8`
      const { rows } = await database.query<{ nonce: string }>(text, [chainId, sender, from, below])
      return rows.map(({ nonce }) => Number(nonce))
    },
    /** Keeps a signed transaction, before it is sent. */
    async write(epoch: bigint, sender: string, relay: NewRelay, at: Date): Promise<void> {
      const { nonce, kind, orderIds, payer, salt, target, data, gasLimit, maxPrice, tip, raw, hash } = relay
      const { wallet, merchants, costUnits, worthPrice, noopFrom } = relay
      await mapLeaseLoss(
        database.query({ name: 'relays-write', text: WRITE }, [
          ...[chainId, epoch, sender, nonce, kind, orderIds, payer, target, data, gasLimit, maxPrice, tip, raw, hash, at, salt],
          ...[wallet, merchants, costUnits, worthPrice, noopFrom],
        ]),
      )
    },
    /** Keeps the same transaction at a higher price, before it is sent. */
    async reprice(
      epoch: bigint,
      sender: string,
      nonce: number,
      offer: { maxPrice: bigint; tip: bigint; raw: string; hash: string; noopFrom: number | null },
      at: Date,
    ) {
      const { maxPrice, tip, raw, hash, noopFrom } = offer
      await mapLeaseLoss(
        database.query({ name: 'relays-reprice', text: REPRICE }, [chainId, epoch, sender, nonce, maxPrice, raw, hash, tip, at, noopFrom]),
      )
    },
    async finish(
      epoch: bigint,
      sender: string,
      nonce: number,
      { outcome, hash, gasUsed, costUnits }: { outcome: Outcome; hash: string | null; gasUsed: number | null; costUnits: bigint },
    ): Promise<void> {
      const values = [chainId, epoch, sender, nonce, outcome, hash, gasUsed, costUnits]
      await mapLeaseLoss(database.query({ name: 'relays-finish', text: FINISH }, values))
    },
    /** Whether anything from this nonce on counts as finished. */
    async isFinishedFrom(sender: string, nonce: number): Promise<boolean> {
      // Raw, because it runs at every turn.
      const text = 'SELECT 1 FROM relays WHERE chain_id = $1 AND sender = $2 AND nonce >= $3 AND outcome IS NOT NULL LIMIT 1'
      return (await database.query({ name: 'relays-finished-from', text }, [chainId, sender, nonce])).rowCount === 1
    },
    /** Everything from this nonce on is to be mined again, and so are the payers' signatures in it. */
    async reopen(epoch: bigint, sender: string, nonce: number, at: Date): Promise<void> {
      await mapLeaseLoss(database.query({ name: 'relays-reopen', text: REOPEN }, [chainId, epoch, sender, nonce, at]))
    },
    /** With `wallet`, only transactions in which a stranger's contract runs count against a day. */
    async spent({ kind, wallet, orderIds, merchants }: Pick<Relay, 'kind' | 'wallet' | 'orderIds' | 'merchants'>): Promise<Spent> {
      const values = [chainId, kind, wallet, [...new Set(merchants)], orderIds, newMerchantDays]
      const { rows } = await database.query<{ scope: string; key: string; units: string }>({ name: 'relays-spent', text: SPENT }, values)
      const of = (scope: string) => new Map(rows.filter(row => row.scope === scope).map(row => [row.key, BigInt(row.units)]))
      return {
        dayUnits: of('day').get('') ?? 0n,
        newMerchantsUnits: of('new merchants').get('') ?? 0n,
        established: new Set(of('established').keys()),
        merchants: of('merchant'),
        orders: of('order'),
        reverted: of('reverted'),
      }
    },
  }
}
