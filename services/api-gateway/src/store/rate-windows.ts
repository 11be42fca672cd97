import type { Database } from '@ponte/service-kit'
import type { Lease } from '../limits/rate-limit'

// Raw SQL, because each lease is one upsert on the path of requests. A lease is an eighth of what is left, and at least one: few round trips
// while there is plenty, exact at the end. The database's clock numbers the windows.
const LEASE = `
  INSERT INTO rate_windows AS known (bucket, number, used, granted)
  SELECT $1, floor(extract(epoch FROM now()) / 60), least($2, greatest(1, $2 / 8)), least($2, greatest(1, $2 / 8))
  ON CONFLICT (bucket) DO UPDATE SET number = EXCLUDED.number,
    used = CASE WHEN known.number = EXCLUDED.number THEN known.used + least($2 - known.used, greatest(1, ($2 - known.used) / 8)) ELSE EXCLUDED.used END,
    granted = CASE WHEN known.number = EXCLUDED.number THEN least($2 - known.used, greatest(1, ($2 - known.used) / 8)) ELSE EXCLUDED.granted END
  RETURNING granted, used, (60 - extract(epoch FROM now())::numeric % 60)::float8 AS resets_in_s`

/** Leases of a caller's limit, shared by all replicas. */
export function rateWindowStore(database: Database) {
  return {
    async lease(bucket: string, limit: number): Promise<Lease> {
      const { rows } = await database.query<{ granted: number; used: number; resets_in_s: number }>({ name: 'rate-lease', text: LEASE }, [
        bucket,
        limit,
      ])
      const row = rows[0]
      if (!row) throw new Error('A rate window was neither written nor read.')
      return { granted: Math.max(0, row.granted), remaining: Math.max(0, limit - row.used), resetsInMs: Math.ceil(row.resets_in_s * 1000) }
    },
    async prune(): Promise<void> {
      // Raw, because the database's clock numbers the windows.
      await database.query('DELETE FROM rate_windows WHERE number < floor(extract(epoch FROM now()) / 60) - 1')
    },
  }
}
