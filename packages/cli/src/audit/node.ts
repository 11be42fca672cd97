import type { RawLog } from './logs'

/** The merchant's own node, by plain JSON-RPC. */
export interface Node {
  chainId(): Promise<number>
  /** A block by its number or by a name such as `finalized`; null where the node has none. */
  block(which: number | string): Promise<{ number: number; hash: string } | null>
  /** Where a transaction stands; null where the node has none. */
  placeOf(txHash: string): Promise<{ blockHash: string; index: number } | null>
  /** Logs of blocks, in as many questions as the node wants. */
  logs(filter: { address: string | readonly string[]; topics: readonly unknown[] }, from: number, to: number): Promise<RawLog[]>
}

const FIRST_RANGE = 10_000
const RANGE_MAX = 5_000_000
const TIMEOUT_MS = 60_000

/** A refusal that a smaller question may not meet. */
class NodeRefusal extends Error {
  override name = 'NodeRefusal'
}

const hex = (number: number) => `0x${number.toString(16)}`

export function openNode(url: string, onBlocks: (to: number) => void = () => undefined): Node {
  let range = FIRST_RANGE
  const ask = async <Result>(method: string, params: readonly unknown[]): Promise<Result> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new Error(`The node does not answer: ${error instanceof Error ? error.message : String(error)}`)
    })
    const text = await answer.text()
    const body = jsonOf(text)
    if (body?.error) throw new NodeRefusal(`The node refuses ${method}: ${body.error.message}`)
    if (!answer.ok || !body || !('result' in body)) throw new NodeRefusal(`The node answers ${method} with HTTP ${answer.status}.`)
    return body.result as Result
  }
  return {
    chainId: async () => Number(await ask<string>('eth_chainId', [])),
    async block(which) {
      const named = typeof which === 'number' ? hex(which) : which
      const block = await ask<{ number: string; hash: string } | null>('eth_getBlockByNumber', [named, false])
      return block && { number: Number(block.number), hash: block.hash.toLowerCase() }
    },
    async placeOf(txHash) {
      const found = await ask<{ blockHash: string; transactionIndex: string } | null>('eth_getTransactionReceipt', [txHash])
      return found && { blockHash: found.blockHash.toLowerCase(), index: Number(found.transactionIndex) }
    },
    async logs(filter, from, to) {
      const found: RawLog[] = []
      for (let next = from; next <= to; ) {
        const last = Math.min(to, next + range - 1)
        try {
          const some = await ask<RawLog[]>('eth_getLogs', [{ ...filter, fromBlock: hex(next), toBlock: hex(last) }])
          if (some.some(({ blockNumber }) => !(Number(blockNumber) >= next && Number(blockNumber) <= last)))
            throw new Error('The node answered logs of other blocks than it was asked for.')
          found.push(...some)
          onBlocks(last)
          next = last + 1
          range = Math.min(RANGE_MAX, range * 2)
        } catch (error) {
          if (!(error instanceof NodeRefusal) || last === next) throw error
          range = Math.max(1, Math.floor((last - next + 1) / 2))
        }
      }
      return found
    },
  }
}

function jsonOf(text: string): { result?: unknown; error?: { message: string } } | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
