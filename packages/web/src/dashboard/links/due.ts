import type { LinkBody } from '@ponte/contracts'
import { BOOKS_ZONE } from '../../due-day'

export type Due = 'undated' | 'ahead' | 'today' | 'past'

const dayThere = (at: Date): string => at.toLocaleDateString('en-CA', { timeZone: BOOKS_ZONE })

/** Where an invoice stands by its due date, by days of the merchant's books. */
export function dueOf({ due_at }: Pick<LinkBody, 'due_at'>, now: Date): Due {
  if (due_at === null) return 'undated'
  const due = new Date(due_at)
  if (dayThere(due) === dayThere(now)) return 'today'
  return due > now ? 'ahead' : 'past'
}
