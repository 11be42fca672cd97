import { List } from '../page.js'
import type { ListEvents } from '../schemas.js'
import type { RequestOptions, Transport } from '../transport.js'
import type { StoredEvent } from '../webhook/event.js'
import { callOperation } from './call.js'
import { type FollowOptions, followEvents } from './follow.js'

/** The events that webhooks send, to be pulled instead; kept for 30 days. */
export interface Events {
  /** Reads an event. */
  get(id: string, options?: RequestOptions): Promise<StoredEvent>
  /** Lists your events, newest first. */
  list(query?: ListEvents, options?: RequestOptions): List<StoredEvent>
  /**
   * Every event after a sequence, in order and without gaps, and then each one as it comes. Goes on over lost connections and restarts of the
   * service until its signal ends it. Keep the `cursor` of what you have handled, and begin there next time: also when the events were put back to an
   * earlier moment meanwhile, it goes on where their history is the one that you have.
   *
   * ```ts
   * for await (const event of ponte.events.follow({ after: await load() })) {
   *   await handle(event)
   *   await save(event.cursor)
   * }
   * ```
   */
  follow(options: FollowOptions): AsyncGenerator<StoredEvent, void, undefined>
}

export const createEvents = (send: Transport): Events => ({
  get: (id, options) => callOperation(send, 'getEvent', { params: { id }, ...options }),
  list: (query, options) => new List((page, rest) => callOperation(send, 'listEvents', { query: page, ...rest }), query, options),
  follow: options => followEvents((query, rest) => callOperation(send, 'listEvents', { query, ...rest }), options),
})
