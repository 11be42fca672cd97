import type { ChainAudited } from '@ponte/contracts'
import { type Database, outboxRows } from '@ponte/service-kit'
import type { ReconcileStore } from './store'

/** Blocks whose payments are summed up together. */
const SPAN = 50

/** Reports to orders what was confirmed in these blocks, in sums, so that it notices by itself what has not reached it. */
export async function publishAudit(database: Database, store: ReconcileStore, chainId: number, from: number, to: number, at: Date) {
  const rows = await store.sums(from, to, SPAN)
  const [first] = rows
  if (!first) return
  const spans = rows.map(row => ({
    from_block: row.first,
    to_block: Math.min(row.first + SPAN - 1, to),
    count: row.count,
    digest: row.digest,
  }))
  const data: ChainAudited = { chain_id: chainId, generation: first.generation, spans }
  await database.commit({ events: outboxRows([{ type: 'chain.audited', data }], at) })
}
