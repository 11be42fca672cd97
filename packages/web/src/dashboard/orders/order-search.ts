import type { Query } from '../api/api'

/** An order's id in the search box leads to it; a memo, a transaction, or a part of reference or description is looked for. */
export function searchFor(text: string | undefined): { orderId?: string; query: Query } {
  if (!text) return { query: {} }
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return { orderId: text.toLowerCase(), query: {} }
  if (/^0x[0-9a-f]{64}$/i.test(text)) return { query: { tx_hash: text.toLowerCase() } }
  if (/^[0-9a-f]{64}$/i.test(text)) return { query: { memo: text.toLowerCase() } }
  return { query: { text } }
}
