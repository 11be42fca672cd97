import { brl, coin, exactMoment, moment, usdc, usdcRounded } from '../../amounts'
import { askedUsdc } from '../../asked-amount'
import { localeOf, useLanguage } from '../../language'
import { en } from './en'
import { pt } from './pt'

const texts = { pt, en }

/** The texts, amounts and moments in the merchant's language. */
export function useWords() {
  const language = useLanguage()
  return {
    language,
    locale: localeOf(language),
    t: texts[language],
    brl: (decimal: string) => brl(decimal, language),
    usdc: (decimal: string) => usdc(decimal, language),
    asked: (decimal: string) => usdc(askedUsdc(decimal), language),
    usdcRounded: (decimal: string) => usdcRounded(decimal, language),
    coin: (units: string) => coin(units, language),
    moment: (iso: string, timeZone?: string) => moment(iso, language, timeZone),
    exactMoment: (iso: string) => exactMoment(iso, language),
  }
}
