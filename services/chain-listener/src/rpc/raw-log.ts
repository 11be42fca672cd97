export interface RawLog {
  address: string
  topics: readonly string[]
  data: string
  blockHash: string
  blockNumber: string
  /** Newer nodes send it; older ones leave it to the block's header. */
  blockTimestamp?: string
  transactionHash: string
  logIndex: string
  removed?: boolean
}
