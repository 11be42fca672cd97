import type { LocalChain } from '@ponte/local-servers'
import { every, type Logger } from '@ponte/service-kit'

/** Mines a block twice a second, and replaces the newest ones on request. */
export interface Miner {
  reorg(depth: number): Promise<void>
  mine(blocks: number): Promise<void>
  /** No block is mined until the answered function is called. */
  halt(): Promise<() => Promise<void>>
  /** Blocks come so far apart from here on that what each brings can come to rest before the next one. */
  slowDown(): Promise<void>
  stop(): Promise<void>
}

const BLOCK_MS = 500
const SLOW_BLOCK_MS = 3_000

/** One at a time: anvil that mines by itself while it reorganises is left with a block missing in its chain. */
export async function startMiner(chain: LocalChain, logger: Logger): Promise<Miner> {
  let line: Promise<unknown> = Promise.resolve()
  const inLine = (work: () => Promise<void>): Promise<void> => {
    const done = line.then(work)
    line = done.catch(() => undefined)
    return done
  }
  const mine = (blocks: number) => inLine(() => chain.mine(blocks))
  const miningEvery = (ms: number) => every('mining', ms, () => mine(1), logger)
  let mining = miningEvery(BLOCK_MS)
  await mining.start?.()
  return {
    mine,
    reorg: depth => inLine(() => chain.reorg(depth)),
    async halt() {
      await mining.stop?.()
      return async () => mining.start?.()
    },
    async slowDown() {
      await mining.stop?.()
      mining = miningEvery(SLOW_BLOCK_MS)
      await mining.start?.()
    },
    stop: async () => mining.stop?.(),
  }
}
