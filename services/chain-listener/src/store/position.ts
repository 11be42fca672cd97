import type { Position } from '../logs/block'

/** How far a chain is read, confirmed and told, as it stands in the database under one lease. */
export interface Cursor {
  chainId: number
  startBlock: number
  /** The hash of block 0, where a node could tell. */
  genesisHash: string | null
  scanned: Position & { time: Date | null }
  confirmed: { number: number; time: Date | null }
  /** The confirmed block that `chain.advanced` last named. */
  announced: number
  /** The last number given to a payment event. */
  sequence: number
}
