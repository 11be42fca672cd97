import type { CheckoutBody } from '@ponte/contracts'
import { usualFeeUsd } from '@ponte/payment-router/supported-chains'
import type { Holdings } from '../wallet/holdings'

type Network = Pick<NonNullable<CheckoutBody['payment']['networks']>[number], 'chain_id' | 'typical_seconds' | 'suspended'>

/** Whether the wallet holds what is due on a network; null where that is unknown. */
export function holdsEnough(holdings: Holdings, chainId: number, due: bigint): boolean | null {
  const held = holdings.get(chainId)
  return held === undefined ? null : held >= due
}

/** Those on which the wallet holds enough, then those of which it is unknown; among these the cheapest, and the fastest. One that stands still is last. */
export function networkOrder<N extends Network>(networks: readonly N[], holdings: Holdings, due: bigint): N[] {
  const holdRank = (chainId: number) => [true, null, false].indexOf(holdsEnough(holdings, chainId, due))
  const rank = ({ chain_id, typical_seconds, suspended }: Network) => [
    suspended ? 1 : 0,
    holdRank(chain_id),
    usualFeeUsd(chain_id) ?? 0,
    typical_seconds,
  ]
  const order = (one: number[], other: number[]) => one.map((value, place) => value - (other[place] ?? 0)).find(Boolean) ?? 0
  return [...networks].sort((one, other) => order(rank(one), rank(other)))
}
