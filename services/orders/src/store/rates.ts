import type { Database } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { PtaxRate } from '../quote/ptax'

// Raw SQL: replicas write one a minute between them; a second one in the same minute would do no harm.
const RECORD = `
  INSERT INTO market_rates (at, rate_micros) SELECT $1::timestamptz, $2
  WHERE NOT EXISTS (SELECT FROM market_rates WHERE at > $1::timestamptz - interval '55 seconds' AND at <= $1) ON CONFLICT DO NOTHING`

/** The first civil day of São Paulo from which PTAX is of use: ten days before the first entry, so that the day before a holiday is there, or the last known one. */
// Raw SQL: the least of the ledger and the greatest of what is known, in São Paulo.
const PTAX_FROM = `
  SELECT coalesce((SELECT max(day) FROM ptax_rates),
    (SELECT (min(block_time) AT TIME ZONE 'America/Sao_Paulo')::date - 10 FROM entries), ($1::timestamptz AT TIME ZONE 'America/Sao_Paulo')::date - 10)::text AS day,
    ($1::timestamptz AT TIME ZONE 'America/Sao_Paulo')::date::text AS today`

/** The rates by which entries are valued. What was written is never changed. */
export function rateStore(database: Database, prisma: PrismaClient) {
  return {
    async record(rateMicros: bigint, at: Date): Promise<void> {
      await database.query({ name: 'market-rate', text: RECORD }, [at, rateMicros])
    },

    /** The days, in São Paulo, that PTAX is to be asked for. */
    async ptaxDays(now: Date): Promise<{ from: string; to: string }> {
      const { rows } = await database.query<{ day: string; today: string }>(PTAX_FROM, [now])
      const [{ day, today } = { day: '', today: '' }] = rows
      return { from: day, to: today }
    },

    async addPtax(rates: readonly PtaxRate[]): Promise<void> {
      const data = rates.map(({ day, rateMicros }) => ({ day: new Date(`${day}T00:00:00Z`), rateMicros }))
      await prisma.ptaxRate.createMany({ data, skipDuplicates: true })
    },
  }
}
