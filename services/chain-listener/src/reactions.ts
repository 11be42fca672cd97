import type { Reactions } from '@ponte/service-kit'

/** The listener knows memos and addresses, not orders. An order's deposit address is nothing to watch yet. */
export const reactions: Reactions = {
  'order.created': async () => undefined,
}
