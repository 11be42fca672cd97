import type { Database } from '@ponte/service-kit'
import { LEASE_GUARD, mapLeaseLoss } from '../../store/lease'

/** A transaction of the relayer that was signed and is not finished. */
export interface Relay {
  nonce: number
  kind: 'sweep' | 'authorization'
  orderIds: string[]
  payer: string | null
  /** The salt of the payer's signature; null for a sweep. */
  salt: string | null
  target: string
  data: string
  gasLimit: bigint
  maxPrice: bigint
  tip: bigint
  /** The signed bytes at each price it was offered at, cheapest first, and their hashes. */
  raws: string[]
  hashes: string[]
  pricedAt: Date
}

export type NewRelay = Omit<Relay, 'raws' | 'hashes' | 'pricedAt'> & { raw: string; hash: string }

/** How a relay ended: mined and well, mined and reverted, or its nonce was used by something else. */
export type Outcome = 'done' | 'reverted' | 'replaced'

interface Row {
  nonce: string
  kind: Relay['kind']
  order_ids: string[]
  payer: string | null
  salt: string | null
  target: string
  data: string
  gas_limit: string
  max_price: string
  tip: string
  raws: string[]
  hashes: string[]
  priced_at: Date
}

const OPEN = `
  SELECT nonce::text, kind, order_ids, payer, salt, target, data, gas_limit::text, max_price::text, tip::text, raws, hashes, priced_at
  FROM relays WHERE chain_id = $1 AND sender = $2 AND outcome IS NULL ORDER BY nonce`

const WRITE = `
  WITH ${LEASE_GUARD}, submitted AS (
    UPDATE authorizations SET state = 'submitted', tx_hash = $14 WHERE chain_id = $1 AND payer = $7 AND salt = $16 AND order_id = ANY($6::uuid[]))
  INSERT INTO relays (chain_id, sender, nonce, kind, order_ids, payer, target, data, gas_limit, max_price, tip, raws, hashes, priced_at, salt)
  VALUES ($1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, ARRAY[$13], ARRAY[$14], $15, $16)`

const REPRICE = `
  WITH ${LEASE_GUARD}, submitted AS (
    UPDATE authorizations SET tx_hash = $7 FROM relays WHERE relays.chain_id = $1 AND relays.sender = $3 AND relays.nonce = $4
      AND authorizations.chain_id = $1 AND authorizations.payer = relays.payer AND authorizations.salt = relays.salt
      AND authorizations.order_id = ANY(relays.order_ids))
  UPDATE relays SET raws = raws || $6::text, hashes = hashes || $7::text, max_price = $5, tip = $8, priced_at = $9
  WHERE chain_id = $1 AND sender = $3 AND nonce = $4`

const FINISH = `
  WITH ${LEASE_GUARD}
  UPDATE relays SET outcome = $5, mined_hash = $6, gas_used = $7 WHERE chain_id = $1 AND sender = $3 AND nonce = $4`

const REOPEN = `
  WITH ${LEASE_GUARD}, submitted AS (
    UPDATE authorizations SET state = 'submitted' FROM relays WHERE relays.chain_id = $1 AND relays.sender = $3 AND relays.nonce >= $4
      AND relays.outcome IS NOT NULL AND authorizations.chain_id = $1 AND authorizations.payer = relays.payer
      AND authorizations.salt = relays.salt AND authorizations.order_id = ANY(relays.order_ids) AND authorizations.state = 'paid')
  UPDATE relays SET outcome = NULL, mined_hash = NULL, gas_used = NULL
  WHERE chain_id = $1 AND sender = $3 AND nonce >= $4 AND outcome IS NOT NULL`

export type RelayStore = ReturnType<typeof relayStore>

/** The relayer's nonce line. Every write is one statement that names the lease's epoch. Throws LeaseLostError. */
export function relayStore(database: Database, chainId: number) {
  return {
    async open(sender: string): Promise<Relay[]> {
      return (await database.query<Row>({ name: 'relays-open', text: OPEN }, [chainId, sender])).rows.map(toRelay)
    },
    /** The next nonce after everything that was ever signed. */
    async nextNonce(sender: string): Promise<number> {
      const text = 'SELECT (max(nonce) + 1)::text AS next FROM relays WHERE chain_id = $1 AND sender = $2'
      const { rows } = await database.query<{ next: string | null }>(text, [chainId, sender])
      return Number(rows[0]?.next ?? 0)
    },
    /** Keeps a signed transaction, before it is sent. */
    async write(epoch: bigint, sender: string, relay: NewRelay, at: Date): Promise<void> {
      const { nonce, kind, orderIds, payer, salt, target, data, gasLimit, maxPrice, tip, raw, hash } = relay
      await mapLeaseLoss(
        database.query({ name: 'relays-write', text: WRITE }, [
          ...[chainId, epoch, sender, nonce, kind, orderIds, payer, target, data, gasLimit, maxPrice, tip, raw, hash, at, salt],
        ]),
      )
    },
    /** Keeps the same transaction at a higher price, before it is sent. */
    async reprice(
      epoch: bigint,
      sender: string,
      nonce: number,
      offer: { maxPrice: bigint; tip: bigint; raw: string; hash: string },
      at: Date,
    ) {
      const { maxPrice, tip, raw, hash } = offer
      await mapLeaseLoss(
        database.query({ name: 'relays-reprice', text: REPRICE }, [chainId, epoch, sender, nonce, maxPrice, raw, hash, tip, at]),
      )
    },
    /** What became of it. */
    async finish(
      epoch: bigint,
      sender: string,
      nonce: number,
      { outcome, hash, gasUsed }: { outcome: Outcome; hash: string | null; gasUsed: number | null },
    ): Promise<void> {
      await mapLeaseLoss(database.query({ name: 'relays-finish', text: FINISH }, [chainId, epoch, sender, nonce, outcome, hash, gasUsed]))
    },
    /** Whether anything from this nonce on counts as finished. */
    async isFinishedFrom(sender: string, nonce: number): Promise<boolean> {
      const text = 'SELECT 1 FROM relays WHERE chain_id = $1 AND sender = $2 AND nonce >= $3 AND outcome IS NOT NULL LIMIT 1'
      return (await database.query({ name: 'relays-finished-from', text }, [chainId, sender, nonce])).rowCount === 1
    },
    /** Everything from this nonce on is to be mined again, and so are the payers' signatures in it. */
    async reopen(epoch: bigint, sender: string, nonce: number): Promise<void> {
      await mapLeaseLoss(database.query({ name: 'relays-reopen', text: REOPEN }, [chainId, epoch, sender, nonce]))
    },
  }
}

function toRelay(row: Row): Relay {
  return {
    nonce: Number(row.nonce),
    kind: row.kind,
    orderIds: row.order_ids,
    payer: row.payer,
    salt: row.salt,
    target: row.target,
    data: row.data,
    gasLimit: BigInt(row.gas_limit),
    maxPrice: BigInt(row.max_price),
    tip: BigInt(row.tip),
    raws: row.raws,
    hashes: row.hashes,
    pricedAt: row.priced_at,
  }
}
