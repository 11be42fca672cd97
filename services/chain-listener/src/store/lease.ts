/** Another replica holds the lease, or the database is not what was written: nothing was changed, and this one must read it anew. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError'
}

/** A CTE for `$1` chain and `$2` epoch: a stale epoch becomes NULL, which the column refuses, so the whole statement is undone. */
export const LEASE_GUARD = 'lease AS (UPDATE chain_cursor SET epoch = CASE WHEN epoch = $2 THEN epoch END WHERE chain_id = $1)'

/** The same for the relayer's own lease. It locks the same row, so that the scan's step and a relayer's write follow one another. */
export const RELAY_LEASE_GUARD =
  'lease AS (UPDATE chain_cursor SET relay_epoch = CASE WHEN relay_epoch = $2 THEN relay_epoch END WHERE chain_id = $1)'

/** For a `Statement` of what the relayer publishes: where the listener's history has become another, the whole is undone and read anew. */
export const GENERATION_GUARD = `lease AS (
    UPDATE chain_cursor SET epoch = CASE WHEN generation IS NOT DISTINCT FROM $generation::uuid THEN epoch END WHERE chain_id = $chain_id)`
/** Which of them, for the rows that are published in it. */
export const GENERATION = '(SELECT generation FROM chain_cursor WHERE chain_id = $1) AS generation'

/** Runs a write under the lease. Throws LeaseLostError when its epoch is over. */
export async function mapLeaseLoss<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!isLeaseLost(error)) throw error
    throw new LeaseLostError('another replica leads this chain, or its database is another than it was')
  }
}

const isLeaseLost = (error: unknown): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === '23502' && /^(relay_)?epoch$/.test(String(Reflect.get(error, 'column')))
