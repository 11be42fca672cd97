import { brl, exactMoment, usdc } from '../../amounts'
import { type Language, useLanguage } from '../../language'
import type { Texts } from './pt'

const loads: Record<Language, () => Promise<Texts>> = {
  pt: async () => (await import('./pt')).pt,
  en: async () => (await import('./en')).en,
}
const loaded: Partial<Record<Language, Texts>> = {}

/** Loads the texts of a language, before the page is shown in it: a payer needs one of them. Rejects when the network is away. */
export async function loadTexts(language: Language): Promise<void> {
  loaded[language] ??= await loads[language]()
}

/** The texts and the amounts in the payer's language. */
export function useWords() {
  const language = useLanguage()
  const t = loaded[language]
  if (!t) throw new Error(`The texts of ${language} were not loaded.`)
  return {
    language,
    t,
    brl: (decimal: string) => brl(decimal, language),
    usdc: (decimal: string) => usdc(decimal, language),
    exactMoment: (iso: string) => exactMoment(iso, language),
  }
}
