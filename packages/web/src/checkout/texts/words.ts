import { brl, exactMoment, usdc } from '../../amounts'
import { useLanguage } from '../../language'
import { en } from './en'
import { pt } from './pt'

const texts = { pt, en }

/** The texts and the amounts in the payer's language. */
export function useWords() {
  const language = useLanguage()
  return {
    language,
    t: texts[language],
    brl: (decimal: string) => brl(decimal, language),
    usdc: (decimal: string) => usdc(decimal, language),
    exactMoment: (iso: string) => exactMoment(iso, language),
  }
}
