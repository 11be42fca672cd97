import type { Database, OutboxRow, Statement } from '@ponte/service-kit'

/** In which blocks a payout address is watched, as the next statement to orders has it. */
export interface PayoutSpan {
  address: string
  generation: string
  revision: number
  watchFrom: number
  watchUntil: number | null
}

// Raw SQL, as it compares columns with each other and with the cursor's.
const UNPUBLISHED = `
  SELECT address, generation, revision + 1 AS revision, watch_from::float8 AS "watchFrom", watch_until::float8 AS "watchUntil"
  FROM payouts JOIN chain_cursor USING (chain_id)
  WHERE chain_id = $1 AND generation IS NOT NULL AND (published_generation IS DISTINCT FROM generation
    OR published_until IS DISTINCT FROM watch_until OR published_at < $2) ORDER BY address LIMIT $3`
// Raw SQL because it commits with the event.
const PUBLISHED: Statement = {
  name: 'payout-spans-published',
  text: `
  UPDATE payouts SET revision = one.revision, published_generation = $generation::uuid, published_until = one.watch_until, published_at = $at::timestamptz
  FROM unnest($addresses::text[], $revisions::int[], $untils::bigint[]) AS one (address, revision, watch_until)
  WHERE payouts.chain_id = $chain_id::bigint AND payouts.address = one.address`,
}

/** Spans in which payout addresses are watched; orders is notified of them. */
export const payoutSpanStore = (database: Database, chainId: number) => ({
  unpublished: async (before: Date, limit: number): Promise<PayoutSpan[]> =>
    (await database.query<PayoutSpan>({ name: 'payout-spans-unpublished', text: UNPUBLISHED }, [chainId, before, limit])).rows,
  async publish(spans: readonly PayoutSpan[], events: readonly OutboxRow[], at: Date): Promise<void> {
    await database.commit({
      events,
      write: PUBLISHED,
      values: {
        at,
        chain_id: chainId,
        generation: spans[0]?.generation,
        addresses: spans.map(({ address }) => address),
        revisions: spans.map(({ revision }) => revision),
        untils: spans.map(({ watchUntil }) => watchUntil),
      },
    })
  },
})
