import { every, type Logger } from '@ponte/service-kit'
import type { World } from '../world'

/** Mines a block twice a second, and replaces the newest ones on request. */
export interface Miner {
  reorg(depth: number): Promise<void>
  mine(blocks: number): Promise<void>
  stop(): Promise<void>
}

const BLOCK_MS = 500

/** One at a time: anvil that mines by itself while it reorganises is left with a block missing in its chain. */
export async function startMiner({ chain }: World, logger: Logger): Promise<Miner> {
  let line: Promise<unknown> = Promise.resolve()
  const inLine = (work: () => Promise<void>): Promise<void> => {
    const done = line.then(work)
    line = done.catch(() => undefined)
    return done
  }
  const mine = (blocks: number) => inLine(() => chain.mine(blocks))
  const mining = every('mining', BLOCK_MS, () => mine(1), logger)
  await mining.start?.()
  return {
    mine,
    reorg: depth => inLine(() => chain.reorg(depth)),
    stop: async () => mining.stop?.(),
  }
}
