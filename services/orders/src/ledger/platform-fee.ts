import { merchantShare } from '@ponte/contracts'
import type { Order } from '../order/order'

export interface Moved {
  feeUnits: bigint
  settledUnits: bigint
}

/** The fee of what is confirmed: what the router took, rounded with each payment and sweep, and what it takes of the rest at once. */
export function platformFeeUnits({ confirmedUnits, feeBps }: Pick<Order, 'confirmedUnits' | 'feeBps'>, moved: Moved | undefined): bigint {
  const { feeUnits, settledUnits } = moved ?? { feeUnits: 0n, settledUnits: 0n }
  const waiting = confirmedUnits - feeUnits - settledUnits
  return waiting > 0n ? feeUnits + waiting - merchantShare(waiting, feeBps) : feeUnits
}
