import type { Query } from '../api/api'

/** An order's id in the search box, or a link with it, leads to the order; anything else is looked for as it was quoted. */
export function searchFor(text: string | undefined): { orderId?: string; query: Query } {
  if (!text) return { query: {} }
  const [orderId] = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text.toLowerCase()) ?? []
  return orderId ? { orderId, query: {} } : { query: { text } }
}
