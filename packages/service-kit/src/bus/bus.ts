import { subjectsOf } from '@ponte/contracts'
import type { Part } from '../process/service'

export interface Message {
  id: string
  type: string
  /** The event as JSON text. */
  body: string
  /** When it was handed back for the first time, in ms since the epoch; absent while it never was. */
  handedBackAt?: number
  /** The merchant in whose turn it is handled where others wait; null or absent when it is of none. */
  merchantId?: string | null
}

/** What a log line names of a message. One that cannot be read must not fail who logs: a refused row would hold up all others for ever. */
export function aboutMessage({ id, type, body }: Message) {
  const about = { event_id: id, event_type: type }
  try {
    return { ...about, ...subjectsOf(JSON.parse(body).data) }
  } catch {
    return about
  }
}

/** No other try publishes it, unless the broker is set to take more. */
export class MessageTooLargeError extends Error {
  override name = 'MessageTooLargeError'
  constructor(bytes: number, max: number) {
    super(`The message has ${bytes} bytes, and the broker takes ${max}.`)
  }
}

export type Handler = (message: Message) => Promise<void>

/** How one try to handle a message ended; what is `unknown` is handed back, for a version that knows it. */
export type Outcome = 'done' | 'retried' | 'unknown' | 'dead'

export interface ConsumeOptions {
  /** How many handlers may run at once. */
  prefetch?: number
  onTry?(type: string, outcome: Outcome, seconds: number): void
  /** For how long an error of unknown kind is met by another try, by message type; three tries are made in any case. */
  patienceMs?(type: string): number
  /** Called before a message is parked, or handed back for the first time because it is unknown; while it rejects, the message is tried again. */
  onDead?(message: Message): Promise<void>
}

/** Messages that no try could handle, parked beside their queue. */
export interface DeadLetters {
  count(): Promise<number>
  /** The oldest of them; they stay. */
  list(limit: number): Promise<Message[]>
  /** Puts those with these ids, or all, back into their queue; answers how many. */
  retry(ids?: readonly string[]): Promise<number>
  /** Removes those with these ids for good; answers how many. */
  discard(ids: readonly string[]): Promise<number>
}

export interface QueuePart extends Part {
  /** Messages that wait in the queue, or were handed back and will come again; those in hand not counted. */
  waiting?(): Promise<number> | number
}

/** Queue name to the message types that its reader knows. Each service declares all of it when it connects, so that no message precedes its queue. */
export type Topology = Readonly<Record<string, readonly string[]>>

/**
 * At least once, in no promised order. Both buses keep the same promises; `test/bus-contract.ts` states them.
 */
export interface Bus extends Part {
  /** True while a message would be taken; a relay claims nothing before. */
  accepts(): boolean
  /** Resolves when every queue bound to this type has safely taken the message; rejects when that is not certain. */
  publish(message: Message): Promise<void>
  /** Notifies current subscribers; may be lost. */
  announce(message: Message): void
  /** A part that handles one queue's messages, up to `prefetch` at a time; its stop waits for those in hand. */
  consume(queue: string, handler: Handler, options?: ConsumeOptions): QueuePart
  deadLetters(queue: string): DeadLetters
  /** A part that receives what is announced of these types while it runs; each listener receives all of it. */
  listen(types: readonly string[], handler: (message: Message) => void): Part
}
