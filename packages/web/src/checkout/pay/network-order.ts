import type { CheckoutBody } from '@ponte/contracts'
import { parseUsdc } from '@ponte/contracts/money'
import { usualFeeUsd } from '@ponte/payment-router/supported-chains'
import type { Holdings } from '../wallet/holdings'

type Network = Pick<NonNullable<CheckoutBody['payment']['networks']>[number], 'chain_id' | 'typical_seconds' | 'suspended'>

/** Whether the wallet holds what is due on a network; null where that is unknown. */
export function holdsEnough(holdings: Holdings, chainId: number, due: bigint): boolean | null {
  const held = holdings.get(chainId)
  return held === undefined ? null : held >= due
}

/** First where the wallet holds enough, then where that is unknown; among these the cheapest, and the fastest. One that stands still is last. */
export function networkOrder<N extends Network>(networks: readonly N[], holdings: Holdings, due: bigint): N[] {
  const places = [true, null, false]
  const rank = ({ chain_id, typical_seconds, suspended }: Network) => [
    suspended ? 1n : 0n,
    BigInt(places.indexOf(holdsEnough(holdings, chain_id, due))),
    parseUsdc(usualFeeUsd(chain_id) ?? '0.00'),
    BigInt(typical_seconds),
  ]
  const difference = (one: bigint[], other: bigint[]) => one.map((value, place) => value - (other[place] ?? 0n)).find(Boolean) ?? 0n
  return [...networks].sort((one, other) => {
    const first = difference(rank(one), rank(other))
    return first < 0n ? -1 : first > 0n ? 1 : 0
  })
}
