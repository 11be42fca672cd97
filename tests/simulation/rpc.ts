/** Raw JSON-RPC, and the chain's own facts decoded by hand: nothing of the services, and no library of theirs, stands between. */

export type Rpc = <T>(method: string, ...params: unknown[]) => Promise<T>

export const openRpc =
  (url: string): Rpc =>
  async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const answer = (await response.json()) as { result: T; error?: { message: string } }
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
    return answer.result
  }

export const hex = (value: number | bigint) => `0x${value.toString(16)}`

// keccak256 of Transfer(address,address,uint256) and of PaymentReceived(bytes32,address,address,uint256,uint256).
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

export interface Log {
  address: string
  topics: string[]
  data: string
  transactionHash: string
  blockNumber: string
  logIndex: string
}

export interface Placed {
  txHash: string
  block: number
  logIndex: number
  time: number
}

/** Every `Transfer` of the token and every event with four topics of the router, in the canonical chain as it is now. */
export async function readChain(rpc: Rpc, token: string, router: string) {
  const head = Number(await rpc<string>('eth_blockNumber'))
  const times = new Map<number, number>()
  const timeOf = async (block: number) => {
    const known = times.get(block)
    if (known !== undefined) return known
    const time = Number((await rpc<{ timestamp: string }>('eth_getBlockByNumber', hex(block), false)).timestamp)
    times.set(block, time)
    return time
  }
  const logsOf = (address: string, topics: unknown[]) =>
    rpc<Log[]>('eth_getLogs', { fromBlock: '0x0', toBlock: hex(head), address, topics })
  const placed = async (log: Log): Promise<Placed> => ({
    txHash: log.transactionHash,
    block: Number(log.blockNumber),
    logIndex: Number(log.logIndex),
    time: await timeOf(Number(log.blockNumber)),
  })
  const address = (topic: string | undefined) => `0x${(topic ?? '').slice(26).toLowerCase()}`
  const transfers = await Promise.all(
    (await logsOf(token, [TRANSFER])).map(async log => ({
      ...(await placed(log)),
      from: address(log.topics[1]),
      to: address(log.topics[2]),
      amount: BigInt(log.data),
    })),
  )
  const received = await Promise.all(
    (await logsOf(router, []))
      .filter(log => log.topics.length === 4 && log.data.length === 130)
      .map(async log => ({
        ...(await placed(log)),
        memo: (log.topics[1] ?? '').slice(2),
        merchant: address(log.topics[2]),
        payer: address(log.topics[3]),
        amount: BigInt(log.data.slice(0, 66)) + BigInt(`0x${log.data.slice(66)}`),
      })),
  )
  return { head, timeOf, transfers, received }
}
export type ChainFacts = Awaited<ReturnType<typeof readChain>>
