import type { PayoutWatch } from '@ponte/contracts'
import { type Database, int, outboxRows, type Statement, text, time } from '@ponte/service-kit'
import { z } from 'zod'
import { checksumAddress } from '../chain/checksum-address'
import type { PrismaClient } from '../generated/client'
import { watchEvent } from '../order/factory'
import type { Order } from '../order/order'
import { depositAddressesAmong } from './order-reads'
import { orders, toOrder } from './rows'

const OPEN = "orders.chain_id > 0 AND status IN ('pending', 'underpaid', 'confirming')"
const ASKED_AGO = '(asked_at IS NULL OR asked_generation IS DISTINCT FROM $2::uuid OR asked_at < $3)'

// Raw SQL because its plan was measured: `chain_id > 0` names the index of open orders. What was asked in this generation is asked again after a minute.
const UNWATCHED = `
  SELECT ${orders.select()} FROM orders JOIN order_networks AS network ON network.order_id = orders.id AND network.chain_id = $1
  WHERE ${OPEN} AND (network.watched_generation IS DISTINCT FROM $2::uuid OR network.watched_through < 0) AND ${ASKED_AGO}
  ORDER BY expires_at LIMIT $4`
// Raw SQL: a partial index holds the few that no one was asked for, and an order is read once for all its networks.
const UNASKED_ORDERS = `
  SELECT ${orders.select()}, "chainIds" FROM (
    SELECT order_id, array_agg(chain_id) AS "chainIds" FROM order_networks WHERE asked_at IS NULL AND chain_id = ANY($1) GROUP BY order_id LIMIT $2) AS unasked
  JOIN orders ON orders.id = order_id`
// Raw SQL, as the one above. Open orders too: one that is closed between this page and the next question about open ones would be in neither.
const ALL = `
  SELECT ${orders.select()} FROM orders JOIN order_networks AS network ON network.order_id = orders.id AND network.chain_id = $1
  WHERE id > $2 ORDER BY id LIMIT $3`
// Raw SQL because it commits with the event.
const ASKED: Statement = {
  name: 'watch-asked',
  text: `
  UPDATE order_networks AS network SET asked_generation = asked.generation, asked_at = $at::timestamptz
  FROM unnest($chain_ids::int[], $generations::uuid[]) AS asked (chain_id, generation)
  WHERE network.chain_id = asked.chain_id AND order_id = ANY($order_ids::uuid[])`,
}
// Raw SQL because it commits with the event.
const RESENT: Statement = {
  name: 'watch-resent',
  text: `
  UPDATE chain_cursors SET resent_to = $resent_to::uuid WHERE chain_id = $chain_id AND generation = $generation::uuid AND resent_to = $resent_from::uuid`,
}

// Raw SQL: each address by its index, with the first of the times in which it was one, of whichever merchant.
const UNASKED = `
  SELECT page.address, min(since) AS since, asked_from::text AS "watchFrom"
  FROM (
    SELECT address, asked_from FROM payout_spans
    WHERE chain_id = $1::int AND (asked_generation IS NULL OR asked_generation < $2::uuid OR asked_generation > $2::uuid) LIMIT $3) AS page
  CROSS JOIN LATERAL (
    SELECT since FROM payout_addresses WHERE lower(payout_address) = page.address
    UNION ALL SELECT since FROM payout_addresses WHERE of_networks @> jsonb_build_object(($1::int)::text, page.address)) AS named
  GROUP BY page.address, asked_from`
// Raw SQL because it commits with the event.
const PAYOUTS_ASKED: Statement = {
  name: 'watch-payouts-asked',
  text: 'UPDATE payout_spans SET asked_generation = $generation::uuid WHERE chain_id = $chain_id::int AND address = ANY($addresses::text[])',
}
const unaskedRow = z.object({ address: text.transform(checksumAddress), since: time, watchFrom: int.nullable() })

const PAGE = 500
const ASK_AGAIN_MS = 60_000

interface Asked {
  order: Order
  chainIds: readonly number[]
}

/** Which orders the listener is asked to watch: orders owns that, and the listener refills from it. */
export function watchStore(database: Database, prisma: PrismaClient, now: () => Date) {
  const ask = async (found: readonly Asked[], generations: readonly (readonly [chainId: number, generation: string | null])[]) => {
    if (found.length === 0) return false
    const events = generations.flatMap(([chainId, generation]) => {
      const there = found.flatMap(({ order, chainIds }) => (chainIds.includes(chainId) ? [order] : []))
      return there.length === 0 ? [] : [watchEvent(there, chainId, generation)]
    })
    await database.commit({
      events: outboxRows(events, now()),
      write: ASKED,
      values: {
        ...{ chain_ids: generations.map(([chainId]) => chainId), generations: generations.map(([, generation]) => generation) },
        ...{ at: now(), order_ids: found.map(({ order }) => order.id) },
      },
    })
    return found.length === PAGE
  }
  return {
    /** Asks for open orders that are not watched in this generation. Resolves to whether there may be more. */
    async askOpen(chainId: number, generation: string | null): Promise<boolean> {
      const values = [chainId, generation, new Date(now().getTime() - ASK_AGAIN_MS), PAGE]
      const { rows } = await database.query({ name: 'watch-unwatched', text: UNWATCHED }, values)
      return ask(
        rows.map(row => ({ order: toOrder(row), chainIds: [chainId] })),
        [[chainId, generation]],
      )
    },

    /** Asks for new orders on networks beside their first, all of them together. Resolves to whether there may be more. */
    async askNew(generations: readonly (readonly [chainId: number, generation: string | null])[]): Promise<boolean> {
      const named = [generations.map(([chainId]) => chainId), PAGE]
      const { rows } = await database.query<Pick<Asked, 'chainIds'>>({ name: 'watch-unasked', text: UNASKED_ORDERS }, named)
      return ask(
        rows.map(row => ({ order: toOrder(row), chainIds: row.chainIds })),
        generations,
      )
    },

    /** Asks for payout addresses, past and present, that were not asked for in this generation. Resolves to whether there may be more. */
    async askPayouts(chainId: number, generation: string | null, unpayable: readonly string[]): Promise<boolean> {
      if (generation === null) return false
      const { rows } = await database.query({ name: 'watch-payouts', text: UNASKED }, [chainId, generation, PAGE])
      const found = rows.map(row => unaskedRow.parse(row))
      if (found.length === 0) return false
      // A transfer to a deposit address pays an order, and to some no merchant can be paid; they count as asked for.
      const deposits = await depositAddressesAmong(
        database,
        found.map(({ address }) => address),
      )
      const unwatched = new Set([...unpayable, ...deposits].map(address => address.toLowerCase()))
      const payouts: PayoutWatch['payouts'] = found
        .filter(({ address }) => !unwatched.has(address.toLowerCase()))
        .map(({ address, since, watchFrom }) => ({ address, since: since.toISOString(), watch_from: watchFrom }))
      await database.commit({
        events: payouts.length === 0 ? [] : outboxRows([{ type: 'payout.watch', data: { chain_id: chainId, generation, payouts } }], now()),
        write: PAYOUTS_ASKED,
        values: { chain_id: chainId, generation, addresses: found.map(({ address }) => address.toLowerCase()) },
      })
      return true
    },

    /** Asks for a page of all orders, because money may still come to closed ones, after another generation began. */
    async askAll(chainId: number): Promise<void> {
      const cursor = await prisma.chainCursor.findUnique({ where: { chainId } })
      if (!cursor?.generation || cursor.resentTo === null) return
      const { generation, resentTo } = cursor
      const found = (await database.query({ name: 'watch-all', text: ALL }, [chainId, resentTo, PAGE])).rows.map(toOrder)
      await database.commit({
        events: found.length === 0 ? [] : outboxRows([watchEvent(found, chainId, generation)], now()),
        write: RESENT,
        values: {
          chain_id: chainId,
          generation,
          resent_from: resentTo,
          resent_to: found.length === PAGE ? (found.at(-1)?.id ?? null) : null,
        },
      })
    },
  }
}
