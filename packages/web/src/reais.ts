import type { Language } from './language'

const NOTATIONS: Record<Language, { group: string; point: string }> = {
  pt: { group: '.', point: ',' },
  en: { group: ',', point: '.' },
}
const WHOLE_DIGITS_MAX = 10

/**
 * Reais as people write them (`R$ 1.500,50`) to the wire's form (`1500.50`); null for what is no amount above zero. A text is read in the
 * notation of its language. The other notation is taken only where its decimals leave no doubt: `12,345` is never twelve thousand to a reader
 * of Portuguese.
 */
export function reaisFrom(text: string, language: Language): string | null {
  const plain = text.replace(/R\$|\s/g, '')
  const other = read(plain, language === 'pt' ? 'en' : 'pt')
  const amount = read(plain, language) ?? (other?.hasCents ? other : null)
  return amount && /[1-9]/.test(amount.decimal) ? amount.decimal : null
}

function read(text: string, language: Language): { decimal: string; hasCents: boolean } | null {
  const { group, point } = NOTATIONS[language]
  const [whole = '', cents, ...more] = text.split(point)
  const isGrouped = new RegExp(`^\\d{1,3}(\\${group}\\d{3})+$`).test(whole)
  if (more.length > 0 || !(isGrouped || /^\d+$/.test(whole)) || (cents !== undefined && !/^\d{1,2}$/.test(cents))) return null
  const digits = whole.replaceAll(group, '').replace(/^0+(?=\d)/, '')
  if (digits.length > WHOLE_DIGITS_MAX) return null
  return { decimal: `${digits}.${(cents ?? '').padEnd(2, '0')}`, hasCents: cents !== undefined }
}
