import { brl, usdc } from '../amounts'
import { useLanguage } from '../language'
import { texts } from './texts'

/** The texts and the amounts in the payer's language. */
export function useWords() {
  const language = useLanguage()
  return {
    language,
    t: texts[language],
    brl: (decimal: string) => brl(decimal, language),
    usdc: (decimal: string) => usdc(decimal, language),
  }
}
