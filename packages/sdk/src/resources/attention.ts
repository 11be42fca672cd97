import { List } from '../page.js'
import type { AttachPayment, AttentionItem, ExportAttention, HandleAttention, ListAttention, Order } from '../schemas.js'
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { callOperation, exportFile } from './call.js'

/** Money that does not simply settle: of an order, or to your payout address without an order. */
export interface Attention {
  /** Lists what needs attention, newest first. */
  list(query?: ListAttention, options?: RequestOptions): List<AttentionItem>
  /** Marks an item as handled, with its `facts` as you saw them; something new brings it back. */
  handle(id: string, body: HandleAttention, options?: WriteOptions): Promise<AttentionItem>
  /** Shows a handled item again. */
  reopen(id: string, options?: WriteOptions): Promise<AttentionItem>
  /** Counts a payment that named no order for this one. */
  attach(id: string, body: AttachPayment, options?: WriteOptions): Promise<Order>
  /** All pages of the list as CSV. */
  export(query?: ExportAttention, options?: RequestOptions): Promise<string>
}

export const createAttention = (send: Transport): Attention => ({
  list: (query, options) => new List((page, rest) => callOperation(send, 'listAttention', { query: page, ...rest }), query, options),
  export: (query, options) => exportFile(send, 'exportAttention', query, options),
  handle: (id, body, options) => callOperation(send, 'handleAttention', { params: { id }, body, ...options }),
  reopen: (id, options) => callOperation(send, 'reopenAttention', { params: { id }, ...options }),
  attach: (id, body, options) => callOperation(send, 'attachAttention', { params: { id }, body, ...options }),
})
