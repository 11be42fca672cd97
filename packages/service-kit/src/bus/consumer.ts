import { type Event, type EventType, parseEvent, subjectsOf } from '@ponte/contracts'
import { isUniqueViolation } from '../database'
import { addLogFields, currentTraceId, withSpan } from '../observe'
import type { Part } from '../process'
import { PoisonError } from '../retryable'
import type { Bus, ConsumeOptions, Message } from './bus'

/** What a service does when others speak. A reaction commits with the event's id as its inbox row. */
export type Reactions = { [T in EventType]?: (event: Extract<Event, { type: T }>) => Promise<void> }

/**
 * Feeds a queue to its reactions. An event whose id is already in the inbox was handled before: the commit fails on that key, nothing changes,
 * and the message is done. An event that no reaction knows is poison, and so is one that breaks its schema.
 */
export function consumer(bus: Bus, queue: string, reactions: Reactions, options?: Omit<ConsumeOptions, 'onTry'>): Part {
  let record: ConsumeOptions['onTry']
  const part = bus.consume(
    queue,
    async message => {
      const event = read(message)
      const reaction = reactions[event.type] as ((event: Event) => Promise<void>) | undefined
      if (!reaction) throw new PoisonError(`${queue} has no reaction to ${event.type}.`)
      const about = { kind: 'consumer', parent: event.trace, attributes: { service: queue, 'messaging.message.id': event.id } } as const
      await withSpan(`${queue} on ${event.type}`, about, () => {
        // Added, not only passed on: the bus logs a failure outside the span.
        addLogFields({ ...subjectsOf(event.data), ...currentTraceId() })
        return once(() => reaction(event))
      })
    },
    { ...options, onTry: (...tried) => record?.(...tried) },
  )
  return {
    ...part,
    observe(metrics) {
      const handling = metrics.histogram('ponte_event_handling_seconds', 'Time of one try to handle an event', ['type'])
      const handled = metrics.counter('ponte_events_handled_total', 'Tries to handle an event, by how they ended', {
        type: Object.keys(reactions),
        outcome: ['done', 'retried', 'dead'],
      })
      metrics.observed('ponte_queue_waiting', "Events that wait in this service's queue", async () => (await part.waiting?.()) ?? 0)
      const letters = bus.deadLetters(queue)
      metrics.observed('ponte_dead_letters_waiting', 'Events that this service could not handle, parked in its dead letters', letters.count)
      record = (type, outcome, seconds) => {
        handling.observe({ type }, seconds)
        handled.inc({ type, outcome })
      }
    },
  }
}

function read(message: Message): Event {
  try {
    return parseEvent(JSON.parse(message.body))
  } catch (error) {
    throw new PoisonError('The event breaks its schema.', { cause: error })
  }
}

/** Runs a reaction whose event may be in the inbox already: then nothing was changed, and nothing more is to be done. */
async function once(reaction: () => Promise<void>): Promise<void> {
  try {
    await reaction()
  } catch (error) {
    if (!isUniqueViolation(error, 'inbox_pkey')) throw error
  }
}
