import type { LinkBody } from '@ponte/contracts'
import { useWords } from '../texts/words'

/** The amount of a link in reais, or between which ones the payer chooses. */
export function useAmountOf(): (link: Pick<LinkBody, 'brl_amount' | 'brl_amount_min' | 'brl_amount_max'>) => string {
  const { t, brl } = useWords()
  return ({ brl_amount, brl_amount_min, brl_amount_max }) =>
    brl_amount === null ? t.links.range(brl(brl_amount_min ?? '0'), brl(brl_amount_max ?? '0')) : brl(brl_amount)
}
