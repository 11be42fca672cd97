import { List } from '../page.js'
import type { CreateLink, Link, ListLinks } from '../schemas.js'
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { callOperation } from './call.js'

/** Payment links: pages on which payers open orders, quoted at that moment. */
export interface Links {
  /** Makes a link over an amount in BRL, or bounds between which the payer chooses. Send `url` to the payer. */
  create(body: CreateLink, options?: WriteOptions): Promise<Link>
  /** Reads a link and what became of its orders. */
  get(id: string, options?: RequestOptions): Promise<Link>
  /** Ends a link: it opens no order any more. */
  end(id: string, options?: WriteOptions): Promise<Link>
  /** Lists your links, newest first. */
  list(query?: ListLinks, options?: RequestOptions): List<Link>
}

export const createLinks = (send: Transport): Links => ({
  create: (body, options) => callOperation(send, 'createLink', { body, ...options }),
  get: (id, options) => callOperation(send, 'getLink', { params: { id }, ...options }),
  end: (id, options) => callOperation(send, 'endLink', { params: { id }, ...options }),
  list: (query, options) => new List((page, rest) => callOperation(send, 'listLinks', { query: page, ...rest }), query, options),
})
