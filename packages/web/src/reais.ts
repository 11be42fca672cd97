import type { Language } from './language'

const NOTATIONS: Record<Language, { group: string; point: string }> = {
  pt: { group: '.', point: ',' },
  en: { group: ',', point: '.' },
}
const WHOLE_DIGITS_MAX = 10

/**
 * Reais as people write them (`R$ 1.500,50`) to the wire's form (`1500.50`); null for what is no amount above zero. A text is read in the
 * notation of its language. The other notation is taken only where its decimals leave no doubt: `12,345` is never twelve thousand to a reader
 * of Portuguese, and `0.125` is an eighth to everyone.
 */
export const reaisFrom = (text: string, language: Language): string | null => amountFrom(text.replace('R$', ''), language, 2)

/** USDC in the same way, with up to six decimals. */
export const usdcFrom = (text: string, language: Language): string | null => amountFrom(text.replace(/USDC/i, ''), language, 6)

function amountFrom(text: string, language: Language, places: number): string | null {
  const plain = text.replace(/\s/g, '')
  const other = read(plain, language === 'pt' ? 'en' : 'pt', places)
  const amount = read(plain, language, places) ?? (other?.isClear ? other : null)
  return amount && /[1-9]/.test(amount.decimal) ? amount.decimal : null
}

function read(text: string, language: Language, places: number): { decimal: string; isClear: boolean } | null {
  const { group, point } = NOTATIONS[language]
  const [whole = '', fraction, ...more] = text.split(point)
  const isGrouped = new RegExp(`^[1-9]\\d{0,2}(\\${group}\\d{3})+$`).test(whole)
  const isFraction = fraction === undefined || (/^\d+$/.test(fraction) && fraction.length <= places)
  if (more.length > 0 || !(isGrouped || /^\d+$/.test(whole)) || !isFraction) return null
  const digits = whole.replaceAll(group, '').replace(/^0+(?=\d)/, '')
  if (digits.length > WHOLE_DIGITS_MAX) return null
  return {
    decimal: `${digits}.${(fraction ?? '').padEnd(2, '0')}`,
    isClear: fraction !== undefined && (fraction.length !== 3 || digits === '0'),
  }
}
