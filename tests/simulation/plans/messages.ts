import type { Event, NewEvent } from '@ponte/contracts'
import { type Random, weighted } from '@ponte/service-kit/testing'
import { HOUR } from './payers'

export type Reader = 'orders' | 'subscriptions'

interface InFlight {
  to: Reader
  event: Event
  at: number
}

const READERS: Partial<Record<Event['type'], Reader[]>> = {
  'merchant.updated': ['orders', 'subscriptions'],
  'subscription.charge_requested': ['orders'],
  'subscription.order_superseded': ['orders'],
  'subscription.charged': ['orders'],
  'subscription.cancelled': ['orders'],
  'subscription.expired': ['orders'],
  'order.paid': ['subscriptions'],
  'order.expired': ['subscriptions'],
  'order.cancelled': ['subscriptions'],
  'order.received': ['subscriptions'],
  'order.refused': ['subscriptions'],
  'order.waiting': ['subscriptions'],
}

const DELAYS: readonly (readonly [number, (random: Random) => number])[] = [
  [6, () => 0],
  [2, random => random.between(1, 90) * 60_000],
  [1, random => random.between(1, 49) * HOUR],
]

export interface MessagesDeps {
  random: Random
  now(): number
  id(): string
  up: { orders: boolean; subscriptions: boolean; calm: boolean }
  counts: { messages: number; repeated: number }
}

/** Between the services: late, shuffled and repeated, and handled once by an inbox. */
export function messages({ random, now, id, up, counts }: MessagesDeps) {
  const bag: InFlight[] = []
  const seen = { orders: new Set<string>(), subscriptions: new Set<string>() }
  const delay = () => (up.calm ? 0 : weighted(random, DELAYS)(random))
  return {
    bag,
    delay,
    publish(events: readonly NewEvent[]) {
      for (const published of events) {
        const event: Event = { ...published, id: id(), occurred_at: new Date(now()).toISOString(), trace: null }
        for (const to of READERS[event.type] ?? []) {
          counts.messages += 1
          bag.push({ to, event, at: now() + delay() })
          if (!random.chance(0.1)) continue
          counts.repeated += 1
          bag.push({ to, event, at: now() + delay() })
        }
      }
    },
    /** Everything whose time has come, to services that are up, in any order. */
    deliver(handlers: Record<Reader, (event: Event) => void>) {
      for (;;) {
        const due = bag.filter(message => message.at <= now() && up[message.to])
        if (due.length === 0) return
        const message = random.pick(due)
        bag.splice(bag.indexOf(message), 1)
        if (seen[message.to].has(message.event.id)) continue
        handlers[message.to](message.event)
        seen[message.to].add(message.event.id)
      }
    },
  }
}
