import type { Database } from '@ponte/service-kit'

/** Blocks that are to be read once more. */
export interface Span {
  from: number
  to: number
}

/** And the last of them that was. */
export interface Rescan extends Span {
  readTo: number
}

// Raw SQL, as many rows in one statement, under one conflict rule.
const REQUEST = `
  INSERT INTO rescans (chain_id, from_block, to_block, read_to) SELECT $1, span.from_block, span.to_block, span.from_block - 1
  FROM unnest($2::bigint[], $3::bigint[]) AS span (from_block, to_block)
  ON CONFLICT (chain_id, from_block, to_block) DO UPDATE SET read_to = EXCLUDED.read_to`
// Raw SQL, because it compares two columns, in every turn.
const NEXT = `
  SELECT from_block::float8 AS from, to_block::float8 AS to, read_to::float8 AS "readTo" FROM rescans
  WHERE chain_id = $1 AND read_to < to_block AND NOT EXISTS (
    SELECT 1 FROM unnest($2::bigint[], $3::bigint[]) AS resting (from_block, to_block)
    WHERE resting.from_block = rescans.from_block AND resting.to_block = rescans.to_block)
  ORDER BY from_block LIMIT 1`

export type RescanStore = ReturnType<typeof rescanStore>

/** What an operator or the reconciler wants read again. */
export function rescanStore(database: Database, chainId: number) {
  return {
    /** Asks for these blocks, from their beginning. */
    async request(spans: readonly Span[]): Promise<void> {
      if (spans.length === 0) return
      await database.query({ name: 'rescans-request', text: REQUEST }, [chainId, spans.map(({ from }) => from), spans.map(({ to }) => to)])
    },
    /** The first that is not read yet, and is none of those that rest. */
    async next(resting: readonly Span[] = []): Promise<Rescan | undefined> {
      const values = [chainId, resting.map(({ from }) => from), resting.map(({ to }) => to)]
      return (await database.query<Rescan>({ name: 'rescans-next', text: NEXT }, values)).rows[0]
    },
    /** Forgets those that are done. */
    async prune(): Promise<void> {
      await database.query('DELETE FROM rescans WHERE chain_id = $1 AND read_to >= to_block', [chainId])
    },
  }
}
