import { formatBrl, parseUsdc } from '@ponte/contracts/money'
import { shortDecimal } from './asked-amount'
import { type Language, localeOf } from './language'

/** Groups the digits of a decimal string without making a number of it: `1500.00` to `1.500,00` or `1,500.00`. */
function grouped(decimal: string, language: Language): string {
  const [whole = '0', fraction] = decimal.split('.')
  const [group, point] = language === 'pt' ? ['.', ','] : [',', '.']
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, group)
  return fraction === undefined ? digits : `${digits}${point}${fraction}`
}

export const brl = (decimal: string, language: Language): string => `R$\u00a0${grouped(decimal, language)}`

/** With as many of the six decimals as mean something, and at least two. */
export const usdc = (decimal: string, language: Language): string => `${grouped(shortDecimal(decimal), language)}\u00a0USDC`

/** The network's own coin, of 18 decimals, from its smallest units. */
export function coin(units: string, language: Language): string {
  const digits = units.padStart(19, '0')
  return grouped(`${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, ''), language)
}

/** To the cent, for places where many amounts are compared at a glance; the exact one stands where there is one. */
export const usdcRounded = (decimal: string, language: Language): string =>
  decimal.startsWith('-')
    ? `−${usdcRounded(decimal.slice(1), language)}`
    : usdc(formatBrl((parseUsdc(decimal) + 5_000n) / 10_000n), language)

/** In the reader's time zone, or in a given one. */
export function moment(iso: string, language: Language, timeZone?: string): string {
  return new Date(iso).toLocaleString(localeOf(language), { dateStyle: 'medium', timeStyle: 'short', ...(timeZone ? { timeZone } : {}) })
}

/** A day without its time, in the reader's time zone or in a given one. */
export function dayOf(iso: string, language: Language, timeZone?: string): string {
  return new Date(iso).toLocaleDateString(localeOf(language), { dateStyle: 'medium', ...(timeZone ? { timeZone } : {}) })
}

/** Without the year: no wait is that long. */
export function soon(iso: string, language: Language): string {
  return new Date(iso).toLocaleString(localeOf(language), { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' })
}

export function exactMoment(iso: string, language: Language): string {
  return new Date(iso).toLocaleString(localeOf(language), { dateStyle: 'medium', timeStyle: 'medium' })
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** The time since then, by its largest unit: `3 h`. */
export function age(iso: string, language: Language, now = Date.now()): string {
  const passed = Math.max(0, now - Date.parse(iso))
  const [unit, length] = UNITS.find(([, ms]) => passed >= ms) ?? UNITS[2]
  return new Intl.NumberFormat(localeOf(language), { style: 'unit', unit, unitDisplay: 'short' }).format(Math.floor(passed / length))
}

/** `0x1234…abcd`. */
export const shortened = (text: string, ends = 6): string =>
  text.length <= 2 * ends + 1 ? text : `${text.slice(0, ends)}…${text.slice(-4)}`
