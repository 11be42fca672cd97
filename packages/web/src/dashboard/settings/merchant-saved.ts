import type { MerchantBody } from '@ponte/contracts'
import { useQueryClient } from '@tanstack/react-query'

/** Shows a changed merchant everywhere without asking for it again. */
export function useMerchantSaved(): (merchant: MerchantBody) => void {
  const queries = useQueryClient()
  return merchant => void queries.setQueryData(['merchant'], merchant)
}
