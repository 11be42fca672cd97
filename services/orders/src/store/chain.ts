import type { ChainAdvanced } from '@ponte/contracts'
import type { Database, Statement } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { ChainView } from '../order'

// Raw SQL because it commits with its event.
const ADVANCE: Statement = {
  name: 'chain-advance',
  text: `
  WITH cursor AS (
    INSERT INTO chain_cursors AS known (chain_id, head_block) VALUES ($chain_id, $head_block)
    ON CONFLICT (chain_id) DO UPDATE SET head_block = greatest(known.head_block, EXCLUDED.head_block))
  INSERT INTO chain_advances AS known (chain_id, sequence, confirmed_time) VALUES ($chain_id, $sequence, $confirmed_time)
  ON CONFLICT (chain_id, sequence) DO UPDATE SET confirmed_time = greatest(known.confirmed_time, EXCLUDED.confirmed_time)`,
}

// Raw SQL because it commits with its event.
const COUNT: Statement = {
  name: 'chain-event',
  text: 'INSERT INTO payment_sequences (chain_id, sequence) VALUES ($chain_id, $sequence) ON CONFLICT DO NOTHING',
}

// Raw SQL because it commits with its event.
const PARK: Statement = {
  name: 'chain-park',
  text: `
  WITH counted AS (INSERT INTO payment_sequences (chain_id, sequence) VALUES ($chain_id, $sequence) ON CONFLICT DO NOTHING)
  INSERT INTO parked_events (event_id, chain_id, sequence, memo) VALUES ($event_id, $chain_id, $sequence, $memo) ON CONFLICT DO NOTHING`,
}
// Raw SQL: a join without a relation.
const FORGET_PARKED = 'DELETE FROM parked_events USING inbox WHERE inbox.event_id = parked_events.event_id'
// Raw SQL: the first gap in a sequence, found and written in one statement.
const WATERMARK = `
  UPDATE chain_cursors SET watermark = greatest(watermark, (
    SELECT coalesce(max(sequence), 0) FROM (
      SELECT sequence, sequence - row_number() OVER (ORDER BY sequence) AS offset_by
      FROM payment_sequences WHERE chain_id = $1 AND sequence > $2) AS beyond
    WHERE offset_by = $2))
  WHERE chain_id = $1 RETURNING watermark`

// Raw SQL because what is believed follows from other rows.
const BELIEVE = `
  UPDATE chain_cursors SET confirmed_time = greatest(CASE WHEN confirmed_time <= $3 THEN confirmed_time END,
    (SELECT max(confirmed_time) FROM chain_advances WHERE chain_id = $1 AND sequence <= $2 AND confirmed_time <= $3))
  WHERE chain_id = $1 RETURNING confirmed_time, head_block`

// Raw SQL: a difference of two tables.
const MISSING = `
  SELECT greatest(0, (SELECT max(sequence) FROM chain_advances WHERE chain_id = $1) - watermark) AS count
  FROM chain_cursors WHERE chain_id = $1`

/** An event of the listener among the dead letters; `memo` names the order that it may have paid. */
export interface ParkedEvent {
  event_id: string
  chain_id: number
  sequence: number
  memo: string | null
}

const NOTHING: ChainView = { time: null, watermark: 0 }

/** How far the chain is known, and how far its confirmed time may be believed. */
export function chainStore(database: Database, prisma: PrismaClient, latestTime: () => Date) {
  const views = new Map<number, ChainView>()
  const heads = new Map<number, number>()

  return {
    /** The head of the chain as the listener last reported it; 0 while unknown. */
    async head(chainId: number): Promise<bigint> {
      return (await prisma.chainCursor.findUnique({ where: { chainId } }))?.headBlock ?? 0n
    },

    /** That head as of the last `refresh` here; null before one knew it. An older one is safe: more blocks are watched. */
    knownHead: (chainId: number): number | null => heads.get(chainId) ?? null,

    /** The confirmed chain as of the last `refresh` here. It only grows, so an older one is safe: it expires less. */
    view: (chainId: number): ChainView => views.get(chainId) ?? NOTHING,

    async recordAdvance(advance: ChainAdvanced, eventId: string): Promise<void> {
      const { chain_id, sequence, confirmed_time, head_block } = advance
      await database.commit({ inbox: [eventId], write: ADVANCE, values: { chain_id, sequence, confirmed_time, head_block } })
    },

    /** An event that changes nothing here; it counts in the sequence. */
    async recordEvent({ chain_id, sequence }: { chain_id: number; sequence: number }, eventId: string): Promise<void> {
      await database.commit({ inbox: [eventId], write: COUNT, values: { chain_id, sequence } })
    },

    /** True when no chain can have confirmed this time yet, as far as our clock knows. */
    liesAhead: ({ confirmed_time }: ChainAdvanced): boolean => Date.parse(confirmed_time) > latestTime().getTime(),
    /** An event that writes nothing. */
    async ignore(eventId: string): Promise<void> {
      await database.commit({ inbox: [eventId] })
    },
    /** An event that could not be handled counts in the sequence; the order that it names does not expire until it is. */
    async park(parked: ParkedEvent): Promise<void> {
      await database.commit({ write: PARK, values: { ...parked } })
    },
    /** Forgets those that were handled after all. */
    async forgetParked(): Promise<void> {
      await database.query(FORGET_PARKED)
    },
    /**
     * Moves the watermark over the events read without a gap, and with it Tc: the latest confirmed time whose events are all known. An order that
     * was paid before Tc is therefore known to be paid (invariant 4). The row lock keeps two replicas from moving it at once.
     */
    refresh: (chainId: number): Promise<ChainView> =>
      database.transaction(async sql => {
        const locked = await sql.query<{ watermark: number }>('SELECT watermark FROM chain_cursors WHERE chain_id = $1 FOR UPDATE', [
          chainId,
        ])
        const before = locked.rows[0]?.watermark
        if (before === undefined) return NOTHING
        const moved = await sql.query<{ watermark: number }>(WATERMARK, [chainId, before])
        const watermark = moved.rows[0]?.watermark ?? before
        const known = await sql.query<{ confirmed_time: Date | null; head_block: string }>(BELIEVE, [chainId, watermark, latestTime()])
        await sql.query('DELETE FROM payment_sequences WHERE chain_id = $1 AND sequence <= $2', [chainId, watermark])
        await sql.query('DELETE FROM chain_advances WHERE chain_id = $1 AND sequence < $2', [chainId, watermark])
        const view: ChainView = { time: known.rows[0]?.confirmed_time ?? null, watermark }
        views.set(chainId, view)
        heads.set(chainId, Number(known.rows[0]?.head_block ?? 0))
        return view
      }),

    /** Events that the listener has published and that have not come; expiry waits for them. */
    async missingEvents(chainId: number): Promise<number> {
      const { rows } = await database.query<{ count: number | null }>(MISSING, [chainId])
      return rows[0]?.count ?? 0
    },
  }
}
