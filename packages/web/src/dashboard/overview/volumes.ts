import type { OrderBody, OrderStatus } from '@ponte/contracts'
import { formatBrl, formatUsdc, parseBrl, parseUsdc } from '@ponte/contracts/money'

export interface Day {
  /** `2026-11-20`, in the viewer's time zone. */
  date: string
  brl: bigint
  usdc: bigint
  paid: number
}

export interface Volumes {
  days: Day[]
  brl: string
  usdc: string
  byStatus: Record<OrderStatus, number>
}

const dateOf = (at: Date): string =>
  `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`

/** The first moment of the span of `days` civil days that ends with the day of `now`. */
export function spanStart(now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days + 1)
}

/** What was paid on each day of the span, and how many orders made in it are in which state. Amounts stay integers. */
export function volumesOf(orders: readonly OrderBody[], now: Date, span: number): Volumes {
  const start = spanStart(now, span)
  const days: Day[] = Array.from({ length: span }, (_, index) => ({
    date: dateOf(new Date(start.getFullYear(), start.getMonth(), start.getDate() + index)),
    brl: 0n,
    usdc: 0n,
    paid: 0,
  }))
  const byDate = new Map(days.map(day => [day.date, day]))
  const byStatus: Record<OrderStatus, number> = { pending: 0, confirming: 0, underpaid: 0, paid: 0, expired: 0, cancelled: 0 }
  for (const order of orders) {
    byStatus[order.status] += 1
    const day = order.status === 'paid' && order.paid_at !== null ? byDate.get(dateOf(new Date(order.paid_at))) : undefined
    if (!day) continue
    day.brl += parseBrl(order.brl_amount)
    day.usdc += parseUsdc(order.received)
    day.paid += 1
  }
  const sum = (of: (day: Day) => bigint) => days.reduce((total, day) => total + of(day), 0n)
  return { days, brl: formatBrl(sum(day => day.brl)), usdc: formatUsdc(sum(day => day.usdc)), byStatus }
}

/** Where the axis of a chart ends: 1, 2 or 5 times a power of ten reais that no day goes beyond. In centavos. */
export function scaleTop(days: readonly Day[]): bigint {
  const most = days.reduce((top, day) => (day.brl > top ? day.brl : top), 0n)
  for (let unit = 100_00n; ; unit *= 10n) {
    const top = [1n, 2n, 5n].map(times => times * unit).find(level => level >= most)
    if (top) return top
  }
}
