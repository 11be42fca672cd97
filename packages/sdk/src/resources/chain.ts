import type { Checkpoint, CheckpointPage, ListCheckpoints, NetworkList } from '../schemas.js'
import type { RequestOptions, Transport } from '../transport.js'
import { callOperation } from './call.js'

/** Hashes over what was booked of the chain, one for every 1,000 confirmed blocks. */
export interface Checkpoints {
  /** One page, oldest first; `next_after` is the `after` of the next one. */
  list(query?: ListCheckpoints, options?: RequestOptions): Promise<CheckpointPage>
  /** All of them behind a block, page by page. */
  all(query?: ListCheckpoints, options?: RequestOptions): AsyncGenerator<Checkpoint, void, undefined>
}

/** The networks, and booked facts of them, to be checked against a node. */
export interface Chain {
  readonly checkpoints: Checkpoints
  /** The networks that orders may be paid on here, the first of which is one of every order. */
  networks(options?: RequestOptions): Promise<NetworkList>
}

export const createChain = (send: Transport): Chain => {
  const list: Checkpoints['list'] = (query, options) => callOperation(send, 'listCheckpoints', { ...(query ? { query } : {}), ...options })
  async function* all(query: ListCheckpoints = {}, options?: RequestOptions): AsyncGenerator<Checkpoint, void, undefined> {
    for (let { after } = query; ; ) {
      const page = await list({ ...query, ...(after === undefined ? {} : { after }) }, options)
      yield* page.data
      if (!page.has_more || page.next_after === null) return
      after = String(page.next_after)
    }
  }
  return { checkpoints: { list, all }, networks: options => callOperation(send, 'listNetworks', { ...options }) }
}
