import type { LinkBody } from '@ponte/contracts'

export type Due = 'undated' | 'ahead' | 'today' | 'past'

/** Where an invoice stands by its due date, by days of the time zone of who asks. */
export function dueOf({ due_at }: Pick<LinkBody, 'due_at'>, now: Date): Due {
  if (due_at === null) return 'undated'
  const due = new Date(due_at)
  if (due.toDateString() === now.toDateString()) return 'today'
  return due > now ? 'ahead' : 'past'
}
