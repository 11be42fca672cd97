import type { Random } from '@ponte/service-kit/testing'
import { hex, type Rpc } from './rpc'

type Transaction = Record<string, string>

/** The chain's own clock and pool: nothing is mined but here, at the second that is asked for. */
export async function openChainClock(rpc: Rpc) {
  const head = () => rpc<{ number: string; timestamp: string }>('eth_getBlockByNumber', 'latest', false)
  let { timestamp } = await head()
  /** Transactions since a block, to be sent again after a reorganisation. */
  let journal: { block: number; transaction: Transaction }[] = []
  const now = () => Number(timestamp)

  const mineAt = async (seconds: number) => {
    await rpc('evm_setNextBlockTimestamp', hex(Math.max(seconds, now() + 1)))
    await rpc('evm_mine')
    const mined = await head()
    timestamp = mined.timestamp
    journal = journal.map(sent => (sent.block === 0 ? { ...sent, block: Number(mined.number) } : sent)).slice(-200)
  }
  return {
    now,
    mineAt,
    async send(transaction: Transaction): Promise<string> {
      journal.push({ block: 0, transaction })
      return rpc<string>('eth_sendTransaction', transaction)
    },
    /** Blocks vanish with what was in them; most senders send theirs again. Answers how many did. */
    async reorganise(depth: number, random: Random): Promise<number> {
      const first = Number((await head()).number) - depth + 1
      await rpc('anvil_reorg', depth, [])
      timestamp = (await head()).timestamp
      const lost = journal.filter(({ block }) => block >= first)
      journal = journal.filter(({ block }) => block < first)
      const again = lost.filter(() => random.chance(0.7))
      for (const { transaction } of again) await this.send(transaction)
      return again.length
    },
    async waiting(): Promise<number> {
      const { pending, queued } = await rpc<{ pending: string; queued: string }>('txpool_status')
      return Number(pending) + Number(queued)
    },
  }
}
export type ChainClock = Awaited<ReturnType<typeof openChainClock>>
