type Row = Record<string, unknown>
export type Ask = (sql: string, values?: unknown[]) => Promise<Row[]>

/** A network as the watch sees it. Times are Unix seconds. */
export interface Watched {
  chainId: number
  /** Of the chain's last confirmed block. */
  confirmedTime(): Promise<number>
  /** Of the last confirmed block that its listener has read. */
  readTime(): Promise<number>
}

const EXPIRED = `
  SELECT orders.id, extract(epoch FROM expires_at) AS ends, network.chain_id FROM orders JOIN order_networks AS network ON order_id = orders.id
  WHERE status = 'expired' AND NOT orders.id = ANY ($1)
    AND NOT networks @> jsonb_build_array(jsonb_build_object('chainId', network.chain_id, 'isOffered', false))`

/** Judges from outside that no order expires before each network that it may be paid on is confirmed, and read, past its end. */
export function createExpiryWatch(orders: Ask, networks: readonly Watched[]) {
  const passed = new Map(networks.map(({ chainId }) => [chainId, { confirmed: 0, read: 0 }]))
  const judged = new Set<string>()
  const wrong: string[] = []
  /** To be called before a listener is put back, which takes what it has read. */
  const note = async () => {
    await Promise.all(
      networks.map(async ({ chainId, confirmedTime, readTime }) => {
        const last = passed.get(chainId) ?? { confirmed: 0, read: 0 }
        const [confirmed, read] = await Promise.all([confirmedTime(), readTime()])
        passed.set(chainId, { confirmed: Math.max(last.confirmed, confirmed), read: Math.max(last.read, read) })
      }),
    )
  }
  return {
    note,
    wrong,
    judged: () => judged.size,
    async look(): Promise<void> {
      const rows = await orders(EXPIRED, [[...judged]])
      if (rows.length > 0) await note()
      for (const { id, ends, chain_id } of rows) {
        const { confirmed, read } = passed.get(Number(chain_id)) ?? { confirmed: 0, read: 0 }
        if (confirmed <= Number(ends) || read <= Number(ends))
          wrong.push(`order ${id} expired at ${ends} while chain ${chain_id} was confirmed to ${confirmed} and read to ${read}`)
        judged.add(String(id))
      }
    },
  }
}
