import { type Event, type EventType, readEvent, subjectsOf } from '@ponte/contracts'
import { isUniqueViolation } from '../database/errors'
import { addLogFields } from '../observe/log-fields'
import { currentTraceId, withSpan } from '../observe/trace'
import type { Part } from '../process/service'
import { PoisonError, UnknownMessageError } from '../retryable'
import type { Bus, ConsumeOptions, Message } from './bus'

/** What a service does when others speak. A reaction commits with the event's id as its inbox row. */
export type Reactions = { [T in EventType]?: (event: Extract<Event, { type: T }>) => Promise<void> }

/**
 * Feeds queues to their reactions; the first is named like the service. An event whose id is already in the inbox was handled before: the commit
 * fails on that key, nothing changes, and the message is done. An event whose type or value is not known here is handed back for a version that knows
 * it; one that is no event, or breaks its schema in another way, is poison.
 */
export function consumer(bus: Bus, queue: string | readonly string[], reactions: Reactions, options?: Omit<ConsumeOptions, 'onTry'>): Part {
  const queues = typeof queue === 'string' ? [queue] : queue
  const service = queues[0] ?? ''
  let record: ConsumeOptions['onTry']
  const handler = async (message: Message) => {
    const event = read(message)
    if (!('data' in event)) throw new UnknownMessageError(event.unknown)
    const reaction = reactions[event.type] as ((event: Event) => Promise<void>) | undefined
    if (!reaction) throw new UnknownMessageError(`${service} has no reaction to ${event.type}.`)
    const about = { kind: 'consumer', parent: event.trace, attributes: { service, 'messaging.message.id': event.id } } as const
    await withSpan(`${service} on ${event.type}`, about, () => {
      // Added, not only passed on: the bus logs a failure outside the span.
      addLogFields({ ...subjectsOf(event.data), ...currentTraceId() })
      return once(() => reaction(event))
    })
  }
  const parts = queues.map(name => bus.consume(name, handler, { ...options, onTry: (...tried) => record?.(...tried) }))
  const waiting = async () => (await Promise.all(parts.map(part => part.waiting?.() ?? 0))).reduce((sum, count) => sum + count, 0)
  return {
    name: `${service} events`,
    async start() {
      for (const part of parts) await part.start?.()
    },
    async stop() {
      await Promise.all(parts.map(part => part.stop?.()))
    },
    busy: async () => (await Promise.all(parts.map(part => part.busy?.()))).some(Boolean),
    observe(metrics) {
      const handling = metrics.histogram('ponte_event_handling_seconds', 'Time of one try to handle an event', ['type'])
      const handled = metrics.counter('ponte_events_handled_total', 'Tries to handle an event, by how they ended', {
        type: Object.keys(reactions),
        outcome: ['done', 'retried', 'unknown', 'dead'],
      })
      metrics.observed('ponte_queue_waiting', "Events that wait in this service's queues, those that were handed back included", waiting)
      const letters = queues.map(name => bus.deadLetters(name))
      const parked = async () => (await Promise.all(letters.map(each => each.count()))).reduce((sum, count) => sum + count, 0)
      metrics.observed('ponte_dead_letters_waiting', 'Events that this service could not handle, parked in its dead letters', parked)
      record = (type, outcome, seconds) => {
        handling.observe({ type }, seconds)
        handled.inc({ type, outcome })
      }
    },
  }
}

function read(message: Message): ReturnType<typeof readEvent> {
  try {
    return readEvent(JSON.parse(message.body))
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
