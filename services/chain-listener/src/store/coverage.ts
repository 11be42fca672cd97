import { NO_MEMO } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import { type Deposit, payoutAddress } from '../logs/transfer'
import { LEASE_GUARD, mapLeaseLoss } from './lease'

/** The subject of transfers to all deposit and payout addresses, beside routers and single addresses. */
export const TRANSFERS = 'transfers'

/** Blocks that were not read for every subject. */
export interface Gap {
  subject: string
  from: number
  /** Undefined when everything from there on is missing. */
  to: number | undefined
  /** A transfer to it is of this; undefined for routers and `TRANSFERS`. */
  deposit: Deposit | undefined
}

export interface Span {
  from: number
  to: number
}

const GAP = "lower('{(,)}'::int8multirange - blocks)"
const IS_MISSING = "blocks <> '{(,)}'::int8multirange"

// Raw SQL, in every block: one index lookup for each recipient, whatever the statistics are: most are not ours and touch the index alone.
const ISSUED = `
  SELECT issued.* FROM unnest($2::text[]) AS recipient (address) CROSS JOIN LATERAL (
    SELECT address, memo, merchant, router, NULL::float8 AS "watchFrom", NULL::float8 AS "watchUntil", CASE WHEN ${IS_MISSING} THEN blocks::text END AS blocks
    FROM payables JOIN coverage ON coverage.chain_id = payables.chain_id AND coverage.subject = payables.address
    WHERE payables.address = recipient.address AND payables.chain_id = $1 OFFSET 0) AS issued
  UNION ALL
  SELECT paid.* FROM unnest($2::text[]) AS recipient (address) CROSS JOIN LATERAL (
    SELECT address, NULL AS memo, NULL AS merchant, NULL AS router, watch_from::float8, watch_until::float8, CASE WHEN ${IS_MISSING} THEN blocks::text END AS blocks
    FROM payouts JOIN coverage ON coverage.chain_id = payouts.chain_id AND coverage.subject = payouts.address
    WHERE payouts.address = recipient.address AND payouts.chain_id = $1 OFFSET 0) AS paid`

// Raw SQL: two tables.
const ANY_ISSUED = `
  SELECT 1 WHERE EXISTS (SELECT 1 FROM payables WHERE chain_id = $1 AND address IS NOT NULL) OR EXISTS (SELECT 1 FROM payouts WHERE chain_id = $1)`

// Raw SQL, as Prisma knows no ranges; the partial index is in the order of gaps. Of the few that are read for everyone, what lies above a gap that no
// node fills is looked for too. The planner takes a third of all addresses for gaps and would read each: the offsets have it look up the few there are.
const gaps = (order: 'ASC' | 'DESC') => `
  SELECT subject, gap.from::float8 AS from, gap.to::float8 AS to, memo, merchant, router, watch_from::float8 AS "watchFrom", watch_until::float8 AS "watchUntil"
  FROM ((SELECT subject, blocks FROM coverage WHERE chain_id = $1 AND ${IS_MISSING} AND ${GAP} > $2 ORDER BY ${GAP} ${order} LIMIT $3)
    UNION SELECT subject, blocks FROM coverage WHERE chain_id = $1 AND ${IS_MISSING} AND subject = ANY($4::text[])) AS missing
  CROSS JOIN LATERAL (
    SELECT lower(part) AS from, upper(part) - 1 AS to FROM unnest('{(,)}'::int8multirange - blocks) AS part WHERE lower(part) > $2 ORDER BY 1 LIMIT 1) AS gap
  LEFT JOIN LATERAL (SELECT memo, merchant, router FROM payables WHERE chain_id = $1 AND address = subject OFFSET 0) AS payable ON true
  LEFT JOIN LATERAL (SELECT watch_from, watch_until FROM payouts WHERE chain_id = $1 AND address = subject OFFSET 0) AS payout ON true
  ORDER BY gap.from ${order}`
const LOWEST = gaps('ASC')
const NEWEST = gaps('DESC')

// Raw SQL: one look at the newest blocks. The planner has to know how common this memo is. What one node invented, or a reorganisation took away, does not count.
const NEWEST_PLAIN = `
  SELECT deposit FROM payments JOIN chain_cursor AS newest ON newest.chain_id = payments.chain_id
  WHERE payments.chain_id = $1 AND block_number > newest.scanned_number - $2 AND memo = '${NO_MEMO}' AND state = 'confirmed'`
// The end lies ahead, so that every block is read alike by all who look at it.
const END_BUSY = `
  UPDATE payouts SET watch_until = scanned_number + $2 FROM chain_cursor AS cursor
  WHERE payouts.chain_id = $1 AND cursor.chain_id = $1 AND watch_until IS NULL
    AND address IN (${NEWEST_PLAIN} AND amount >= $4 GROUP BY deposit HAVING count(*) > $3)
  RETURNING address`
const FLOODED = `
  SELECT address FROM payouts WHERE chain_id = $1 AND watch_until IS NULL
    AND address IN (${NEWEST_PLAIN} AND amount < $4 GROUP BY deposit HAVING count(*) > $3) ORDER BY address`
const ENDED = 'SELECT count(*)::int AS count FROM payouts WHERE chain_id = $1 AND watch_until IS NOT NULL'

// Raw SQL because the rows change under the lease's guard, in one statement. What is new is read from its first block on by the scan, or later. The release
// before knows no payout addresses and takes their coverage away: they are read anew then.
const FOLLOW = `
  WITH ${LEASE_GUARD},
  gone AS (DELETE FROM coverage WHERE chain_id = $1 AND length(subject) = 42 AND subject <> ALL($3::text[])
    AND NOT EXISTS (SELECT 1 FROM payables WHERE payables.chain_id = $1 AND payables.address = subject)
    AND NOT EXISTS (SELECT 1 FROM payouts WHERE payouts.chain_id = $1 AND payouts.address = subject))
  INSERT INTO coverage (chain_id, subject, blocks) SELECT $1, subject, int8multirange(int8range(NULL, $4::bigint)) FROM unnest($3::text[]) AS new (subject)
  UNION ALL SELECT chain_id, address, int8multirange(int8range(NULL, watch_from)) FROM payouts WHERE chain_id = $1
  ON CONFLICT (chain_id, subject) DO NOTHING`
const READ_ON = `
  WITH ${LEASE_GUARD}
  UPDATE coverage SET blocks = blocks + int8multirange(int8range($3::bigint, NULL)) WHERE chain_id = $1 AND NOT upper_inf(blocks)`

// Raw SQL: spans of many, in one statement. What is not read yet need not be read again.
const AGAIN = `
  WITH again AS (
    SELECT range_agg(int8range(from_block, least(to_block, scanned_number), '[]')) AS blocks
    FROM unnest($3::bigint[], $4::bigint[]) AS span (from_block, to_block) JOIN chain_cursor ON chain_id = $1 AND from_block <= scanned_number)
  UPDATE coverage SET blocks = coverage.blocks - again.blocks FROM again
  WHERE chain_id = $1 AND subject = ANY($2::text[]) AND again.blocks IS NOT NULL`
const PENDING = `
  SELECT lower(part)::float8 AS from, upper(part)::float8 - 1 AS to FROM coverage, unnest('{(,)}'::int8multirange - blocks) AS part
  WHERE chain_id = $1 AND subject = ANY($2::text[]) AND NOT upper_inf(part) ORDER BY 1 LIMIT 1`
const ADDRESSES_AGAIN = `
  WITH again AS (
    UPDATE payables SET moved_at = 0, doubted = true, asked = asked + 1 WHERE chain_id = $1 AND order_id = ANY($2::uuid[]) RETURNING address, watch_from)
  UPDATE coverage SET blocks = blocks - int8multirange(int8range(watch_from, greatest(watch_from, (SELECT confirmed_number + 1 FROM chain_cursor WHERE chain_id = $1))))
  FROM again WHERE chain_id = $1 AND subject = again.address`

type Terms = { [Field in 'memo' | 'merchant' | 'router']: string | null } & { [Field in 'watchFrom' | 'watchUntil']: number | null }
type IssuedRow = Terms & { address: string; blocks: string | null }
type GapRow = Terms & { subject: string; from: number; to: number | null }

/** Of a deposit address, or of a payout address, which has blocks in place of a memo. Undefined for a row of neither. */
function toDeposit(address: string, { memo, merchant, router, watchFrom, watchUntil }: Terms): Deposit | undefined {
  if (memo !== null && merchant !== null && router !== null) return { address, memo, merchant, router }
  return watchFrom === null ? undefined : payoutAddress(address, watchFrom, watchUntil ?? undefined)
}

/** Transfers of worth, and the blocks in which so many are no merchant's. */
export interface PayoutBounds {
  blocks: number
  max: number
  worthUnits: bigint
}

export type CoverageStore = ReturnType<typeof coverageStore>

/** Which blocks were read for which router and deposit address: one set of intervals each, whose lowest gap is read next. */
export function coverageStore(database: Database, chainId: number) {
  const find = async (name: string, text: string, above: number, limit: number, routers: readonly string[]): Promise<Gap[]> => {
    const { rows } = await database.query<GapRow>({ name: `coverage-${name}`, text }, [chainId, above, limit, [...routers, TRANSFERS]])
    return rows.map(({ subject, from, to, ...terms }) => ({ subject, from, to: to ?? undefined, deposit: toDeposit(subject, terms) }))
  }
  const addressesOf = async (name: string, text: string, { blocks, max, worthUnits }: PayoutBounds): Promise<string[]> => {
    const { rows } = await database.query<{ address: string }>({ name, text }, [chainId, blocks, max, worthUnits])
    return rows.map(({ address }) => address)
  }
  return {
    /** The addresses among these that were ever issued, or are payout addresses, each with the blocks in which the scan knows of it. */
    async issued(addresses: readonly string[]): Promise<Map<string, Deposit>> {
      if (addresses.length === 0) return new Map()
      const { rows } = await database.query<IssuedRow>({ name: 'coverage-issued', text: ISSUED }, [chainId, [...new Set(addresses)]])
      // Where one is both, the deposit address stands: it comes last.
      const inTurn = rows.toSorted((a, b) => Number(a.memo !== null) - Number(b.memo !== null))
      return new Map(
        inTurn.flatMap(({ address, blocks, ...terms }) => {
          const deposit = toDeposit(address, terms)
          if (!deposit || blocks === null) return deposit ? [[address, deposit] as const] : []
          const [isRead, covers] = [within(blocks), deposit.covers]
          return [[address, { ...deposit, covers: (block: number) => isRead(block) && covers?.(block) !== false }] as const]
        }),
      )
    },
    anyIssued: async (): Promise<boolean> => (await database.query(ANY_ISSUED, [chainId])).rowCount === 1,
    /** Follows exactly these routers. Those that are new were read below a block; all are level with the cursor when that is null. */
    async follow(epoch: bigint, routers: readonly string[], below: number | null): Promise<void> {
      await mapLeaseLoss(database.query(FOLLOW, [chainId, epoch, [...routers, TRANSFERS], below]))
    },
    async readOn(epoch: bigint, from: number): Promise<void> {
      await mapLeaseLoss(database.query(READ_ON, [chainId, epoch, from]))
    },
    /** The lowest gaps that begin above a block. */
    lowest: (above: number, limit: number, routers: readonly string[]) => find('lowest', LOWEST, above, limit, routers),
    /** The same, the highest first. */
    newest: (above: number, limit: number, routers: readonly string[]) => find('newest', NEWEST, above, limit, routers),
    async countMissing(): Promise<number> {
      const text = `SELECT count(*)::int AS count FROM coverage JOIN payables USING (chain_id)
        WHERE chain_id = $1 AND payables.address = subject AND ${IS_MISSING}`
      return (await database.query<{ count: number }>(text, [chainId])).rows[0]?.count ?? 0
    },
    /** Payout addresses to which more of worth came than this in the newest blocks are not watched any more, as many blocks from now on. Answers which ones end by it. */
    endBusyPayouts: (bounds: PayoutBounds) => addressesOf('coverage-end-busy', END_BUSY, bounds),
    /** Payout addresses to which as many came that are worth less. They are watched on. */
    floodedPayouts: (bounds: PayoutBounds) => addressesOf('coverage-flooded', FLOODED, bounds),
    /** The number of payout addresses that are not watched any more, or will not be. */
    async endedPayouts(): Promise<number> {
      return (await database.query<{ count: number }>({ name: 'coverage-ended', text: ENDED }, [chainId])).rows[0]?.count ?? 0
    },
    /** These blocks are read once more for routers and for transfers. */
    async again(routers: readonly string[], spans: readonly Span[]): Promise<void> {
      if (spans.length === 0) return
      await database.query(AGAIN, [chainId, [...routers, TRANSFERS], spans.map(({ from }) => from), spans.map(({ to }) => to)])
    },
    /** The first blocks that are to be read for routers or for transfers; null when none are. */
    async pending(routers: readonly string[]): Promise<Span | null> {
      const { rows } = await database.query<Span>(PENDING, [chainId, [...routers, TRANSFERS]])
      return rows[0] ?? null
    },
    /** The addresses of these orders are read once more, from the first block in which they can have been paid; until then their orders are doubted. */
    async addressesAgain(orderIds: readonly string[]): Promise<void> {
      await database.query({ name: 'coverage-addresses-again', text: ADDRESSES_AGAIN }, [chainId, orderIds])
    },
  }
}

/** Whether a block is among these, as PostgreSQL writes a multirange of integers: `{(,10),[20,)}`. */
export function within(multirange: string): (block: number) => boolean {
  const parts = [...multirange.matchAll(/[[(](\d*),(\d*)\)/g)].map(([, from, to]) => ({
    from: from ? Number(from) : Number.NEGATIVE_INFINITY,
    below: to ? Number(to) : Number.POSITIVE_INFINITY,
  }))
  return block => parts.some(({ from, below }) => block >= from && block < below)
}
