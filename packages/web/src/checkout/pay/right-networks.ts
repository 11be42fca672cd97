import type { CheckoutBody } from '@ponte/contracts'
import { type Language, localeOf } from '../../language'

type Payment = CheckoutBody['payment']

/** The networks on which a transfer to the deposit address of this payment pays the order, by their names: `Base, Polygon or Arbitrum`. */
export function rightNetworks(
  { networks = [] }: Payment,
  { deposit_address }: Pick<Payment, 'deposit_address'>,
  language: Language,
): string {
  const right = networks.filter(network => network.deposit_address === deposit_address).map(({ network }) => network)
  return new Intl.ListFormat(localeOf(language), { type: 'disjunction' }).format(right)
}
