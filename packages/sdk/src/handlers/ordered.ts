import type { Events } from '../resources/events.js'
import { dispatch, type EventHandlers } from './receive.js'

/** Where the `cursor` of the last event that was handled is kept: a row of your database, best written with what the handler did. */
export interface KeptCursor {
  /** Null at first: then every event that is kept comes. */
  load(): string | null | Promise<string | null>
  save(cursor: string): unknown
}

/** The events to read, the place to go on from, and functions by kind. */
export interface InOrderOptions {
  /** `ponte.events`; its key needs `events:read`. */
  events: Pick<Events, 'list' | 'follow'>
  cursor: KeptCursor
  on: EventHandlers
}

/**
 * Handlers that see every event in order and without gaps, in any order of deliveries: a webhook announces that there are events, and they are
 * pulled. It is answered 2xx once everything up to now is handled; a handler that throws is where the next webhook begins. In one process they run one after
 * another; with several, lock the row of the cursor from `load` to `save`.
 *
 * ```ts
 * webhookHandler({ secret, on: inOrder({ events: ponte.events, cursor, on: { 'order.paid': data => ship(data.external_ref) } }) })
 * ```
 */
export function inOrder({ events, cursor, on }: InOrderOptions): EventHandlers {
  const drain = async () => {
    const kept = await cursor.load()
    const [newest] = (await events.list({ limit: 1 })).data
    if (!newest || kept === newest.cursor) return
    const done = new AbortController()
    const isLast = (place: string | null) => Number.parseInt(place ?? '0', 10) >= newest.sequence
    const follow = events.follow({
      ...{ after: kept ?? 0, waitS: 0, signal: done.signal },
      // Put back to where nothing came after what is known: there is nothing to wait for.
      onReset: ({ resumeAfter }) => isLast(resumeAfter) && done.abort(),
    })
    for await (const event of follow) {
      await dispatch(on, event)
      await cursor.save(event.cursor)
      if (event.sequence >= newest.sequence) return
    }
  }
  let last: Promise<void> = Promise.resolve()
  return {
    '*': () => {
      last = last.then(drain, drain)
      return last
    },
  }
}
