import type { PayoutWatched } from '@ponte/contracts'
import { type Database, int, type Statement, text } from '@ponte/service-kit'
import { z } from 'zod'
import { checksumAddress } from '../chain/checksum-address'

// Raw SQL because it commits with its event; the newest statement stands.
const WATCHED: Statement = {
  name: 'payout-spans-watched',
  text: `
  INSERT INTO payout_spans AS known (chain_id, address, generation, revision, watch_from, watch_until)
  SELECT $chain_id::int, address, $generation::uuid, revision, watch_from, watch_until
  FROM unnest($addresses::text[], $revisions::int[], $froms::bigint[], $untils::bigint[]) AS one (address, revision, watch_from, watch_until) ORDER BY address
  ON CONFLICT (chain_id, address) DO UPDATE SET generation = EXCLUDED.generation, revision = EXCLUDED.revision,
    watch_from = EXCLUDED.watch_from, watch_until = EXCLUDED.watch_until
  WHERE known.generation IS NULL OR (known.generation, known.revision) < (EXCLUDED.generation, EXCLUDED.revision)`,
}
// Raw SQL: those of a network that is followed from now on, and of merchants whom a replica saved that did not follow it yet.
const SPREAD: Statement = {
  name: 'payout-spans-spread',
  text: `
  INSERT INTO payout_spans (chain_id, address)
  SELECT DISTINCT chain_id, named.address FROM payout_addresses, unnest($chain_ids::int[]) AS chain_id,
    LATERAL (SELECT coalesce(of_networks ->> chain_id::text, lower(payout_address)) AS address) AS named
  WHERE named.address IS NOT NULL AND NOT EXISTS (SELECT FROM payout_spans AS known WHERE known.chain_id = chain_id.chain_id AND known.address = named.address)
  ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
}
// Raw SQL, for it joins by the lower-case form.
const ENDED = `
  SELECT chain_id AS "chainId", address, watch_until::text AS "fromBlock"
  FROM payout_spans JOIN (
    SELECT lower(payout_address) AS address FROM payout_addresses WHERE merchant_id = $1
    UNION SELECT own.address FROM payout_addresses, jsonb_each_text(of_networks) AS own (chain, address) WHERE merchant_id = $1) AS named USING (address)
  WHERE watch_until IS NOT NULL ORDER BY 3, 2`
const endedRow = z.object({ chainId: int, address: text, fromBlock: int })

/** In which blocks plain transfers to payout addresses are counted: the listener of each network decides, and states it. */
export const payoutSpanStore = (database: Database) => ({
  async record({ chain_id, generation, payouts }: PayoutWatched, eventId: string): Promise<void> {
    const byAddress = new Map(payouts.map(payout => [payout.address.toLowerCase(), payout]))
    const stated = [...byAddress.values()]
    await database.commit({
      inbox: [eventId],
      write: WATCHED,
      values: {
        ...{ chain_id, generation, addresses: [...byAddress.keys()] },
        revisions: stated.map(({ revision }) => revision),
        froms: stated.map(({ watch_from }) => watch_from),
        untils: stated.map(({ watch_until }) => watch_until),
      },
    })
  },

  /** Each payout address is watched on each of these networks. */
  async spread(chainIds: readonly number[]): Promise<void> {
    await database.commit({ write: SPREAD, values: { chain_ids: chainIds } })
  },

  /** Payout addresses of a merchant, past and present, to which plain transfers are not counted from a block on. */
  async ended(merchantId: string): Promise<{ chainId: number; address: string; fromBlock: number }[]> {
    const { rows } = await database.query({ name: 'payout-spans-ended', text: ENDED }, [merchantId])
    return rows.map(row => endedRow.parse(row)).map(row => ({ ...row, address: checksumAddress(row.address) }))
  },
})
