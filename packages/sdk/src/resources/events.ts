import { List } from '../page.js'
import type { ListEvents } from '../schemas.js'
import type { RequestOptions, Transport } from '../transport.js'
import type { StoredEvent } from '../webhook/event.js'
import { type FollowOptions, followEvents } from './follow.js'
import { segment } from './path.js'

const PATH = '/api/v1/events'

/** What webhooks send, to be pulled instead; kept for 30 days. */
export interface Events {
  /** Reads an event. */
  get(id: string, options?: RequestOptions): Promise<StoredEvent>
  /** Lists your events, newest first. */
  list(query?: ListEvents, options?: RequestOptions): List<StoredEvent>
  /**
   * Every event after a sequence, in order and without gaps, and then each one as it comes. Goes on over lost connections and restarts of the
   * service until its signal ends it. Keep the `sequence` of what you have handled, and begin there next time.
   *
   * ```ts
   * for await (const event of ponte.events.follow({ after: await load() })) {
   *   await handle(event)
   *   await save(event.sequence)
   * }
   * ```
   */
  follow(options: FollowOptions): AsyncGenerator<StoredEvent, void, undefined>
}

export const createEvents = (send: Transport): Events => ({
  get: (id, options) => send({ method: 'GET', path: `${PATH}/${segment(id)}`, ...options }),
  list: (query, options) => new List((page, rest) => send({ method: 'GET', path: PATH, query: page, ...rest }), query, options),
  follow: options => followEvents((query, rest) => send({ method: 'GET', path: PATH, query, ...rest }), options),
})
