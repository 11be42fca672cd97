import { type Event, type EventType, parseEvent } from '@ponte/contracts'
import type { Bus } from './bus'
import { isUniqueViolation } from './database'
import type { Part } from './service'

/** What a service does when others speak. A reaction commits with the event's id as its inbox row. */
export type Reactions = { [T in EventType]?: (event: Extract<Event, { type: T }>) => Promise<void> }

/**
 * Feeds a queue to its reactions. An event whose id is already in the inbox was handled before: the commit fails on that key, nothing changes,
 * and the message is done. An event that no reaction knows is poison, and so is one that breaks its schema.
 */
export function consumer(bus: Bus, queue: string, reactions: Reactions, options?: { prefetch?: number }): Part {
  return bus.consume(
    queue,
    async message => {
      const event = parseEvent(JSON.parse(message.body))
      const reaction = reactions[event.type] as ((event: Event) => Promise<void>) | undefined
      if (!reaction) throw new Error(`${queue} has no reaction to ${event.type}.`)
      try {
        await reaction(event)
      } catch (error) {
        if (!isUniqueViolation(error, 'inbox_pkey')) throw error
      }
    },
    options,
  )
}
