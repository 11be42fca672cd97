import { dayOf } from './amounts'
import type { Language } from './language'

/** The books are those of São Paulo, wherever they are read. */
export const BOOKS_ZONE = 'America/Sao_Paulo'

/** The day on which an invoice is due is one of the merchant's books, also to a payer abroad. */
export const dueDay = (iso: string, language: Language): string => dayOf(iso, language, BOOKS_ZONE)

/** The end of such a day: since 2019 clocks there are three hours behind UTC all year. */
export const endOfDueDay = (date: string): string => new Date(`${date}T23:59:59.999-03:00`).toISOString()
