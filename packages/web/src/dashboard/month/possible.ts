import type { EntryBody } from '@ponte/contracts'
import { parseBrl, parseRate, parseUsdc } from '@ponte/contracts/money'

type Direct = Pick<EntryBody, 'amount' | 'reverses' | 'market_brl_amount' | 'ptax_rate'>

/** Plain transfers of a month: what they come to if they were for sales. What was taken back counts for nothing. */
export interface Possible {
  centavos: bigint
  /** Transfers that have a value. */
  valued: number
  /** Transfers of whose time neither we nor the central bank kept a rate, and their units. */
  unvalued: number
  unvaluedUnits: bigint
}

export function possibleOf(transfers: readonly Direct[]): Possible {
  const sum: Possible = { centavos: 0n, valued: 0, unvalued: 0, unvaluedUnits: 0n }
  for (const transfer of transfers) {
    const count = transfer.reverses === null ? 1 : -1
    const centavos = centavosOf(transfer)
    if (centavos === null) {
      sum.unvalued += count
      sum.unvaluedUnits += signed(transfer.amount, parseUsdc)
    } else {
      sum.valued += count
      sum.centavos += centavos
    }
  }
  return sum
}

/** At the median of its block's time, or else at that day's PTAX; null without either. */
function centavosOf({ amount, market_brl_amount, ptax_rate }: Direct): bigint | null {
  if (market_brl_amount !== null) return signed(market_brl_amount, parseBrl)
  return ptax_rate === null ? null : signed(amount, text => (parseUsdc(text) * parseRate(ptax_rate) + 5_000_000_000n) / 10_000_000_000n)
}

const signed = (text: string, parse: (text: string) => bigint): bigint => (text.startsWith('-') ? -parse(text.slice(1)) : parse(text))

/** Where a month is against a limit: above by its orders alone, above only together with what may have been sales, or below. */
export const standingOf = (ordersCentavos: bigint, possibleCentavos: bigint, limitCentavos: bigint): 'above' | 'possibly' | 'below' =>
  ordersCentavos > limitCentavos ? 'above' : ordersCentavos + possibleCentavos > limitCentavos ? 'possibly' : 'below'
