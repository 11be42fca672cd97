import type { LocalChain } from '@ponte/local-servers'
import { every, type Logger } from '@ponte/service-kit'

/** Mines a block twice a second, and replaces the newest ones on request. */
export interface Miner {
  chainId: number
  reorg(depth: number): Promise<void>
  mine(blocks: number): Promise<void>
  /** No block is mined until the answered function is called. Throws where none is. */
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
  let isHalted = false
  const miningEvery = (ms: number) => every('mining', ms, async () => void (isHalted || (await mine(1))), logger)
  let mining = miningEvery(BLOCK_MS)
  await mining.start?.()
  return {
    mine,
    chainId: chain.chainId,
    reorg: depth => inLine(() => chain.reorg(depth)),
    async halt() {
      if (isHalted) throw new Error(`chain ${chain.chainId} stands still`)
      isHalted = true
      return async () => {
        isHalted = false
      }
    },
    async slowDown() {
      await mining.stop?.()
      mining = miningEvery(SLOW_BLOCK_MS)
      await mining.start?.()
    },
    stop: async () => mining.stop?.(),
  }
}
