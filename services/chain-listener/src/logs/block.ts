/** `time` is Unix seconds, as on the chain. */
export interface Block {
  number: number
  hash: string
  parentHash: string
  time: number
}

/** Where the scan stands: the last block read and its hash. Before block 0 there is none, and nothing to link to. */
export interface Position {
  number: number
  hash: string | null
  /** Its time, where it is known. */
  time?: number | Date | null
}

/** True when the blocks follow `parent` and each other without a gap, by number and by parent hash. */
export function links(parent: Position, blocks: readonly Block[]): boolean {
  let last = parent
  for (const block of blocks) {
    if (block.number !== last.number + 1) return false
    if (last.hash !== null && block.parentHash !== last.hash) return false
    last = block
  }
  return true
}
