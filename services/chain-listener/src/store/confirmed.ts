import type { Database } from '@ponte/service-kit'

export interface Confirmed {
  number: number
  hash: string
  time: number
  generation: string
}

const CONFIRMED = `
  SELECT confirmed_number::float8 AS number, hash, extract(epoch FROM confirmed_time)::float8 AS time, generation FROM chain_cursor
  JOIN blocks ON blocks.chain_id = chain_cursor.chain_id AND number = confirmed_number
  WHERE chain_cursor.chain_id = $1 AND confirmed_time IS NOT NULL AND generation IS NOT NULL`

/** The last confirmed block; undefined while its hash is not remembered. Raw SQL, for it joins what Prisma knows no relation of. */
export async function lastConfirmed(database: Database, chainId: number): Promise<Confirmed | undefined> {
  return (await database.query<Confirmed>({ name: 'last-confirmed', text: CONFIRMED }, [chainId])).rows[0]
}
