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
// And of AuthorizationUsed(address,bytes32) and AuthorizationCanceled(address,bytes32).
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const CANCELLED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'

export interface Log {
  address: string
  topics: string[]
  data: string
  transactionHash: string
  blockNumber: string
  blockHash: string
  logIndex: string
}

export interface Placed {
  txHash: string
  block: number
  logIndex: number
  time: number
}

/** By hash, which a reorganisation changes. */
const timeOfBlock = new Map<string, Promise<number>>()

/** Every `Transfer` and every end of an authorization of the token and every event with four topics of the router, in the canonical chain as it is now. */
export async function readChain(rpc: Rpc, token: string, router: string) {
  const head = Number(await rpc<string>('eth_blockNumber'))
  const timeOf = async (block: number) => Number((await rpc<{ timestamp: string }>('eth_getBlockByNumber', hex(block), false)).timestamp)
  const timeOfLog = ({ blockHash, blockNumber }: Log): Promise<number> => {
    const time = timeOfBlock.get(blockHash) ?? timeOf(Number(blockNumber))
    timeOfBlock.set(blockHash, time)
    return time
  }
  const logsOf = (address: string, topics: unknown[]) =>
    rpc<Log[]>('eth_getLogs', { fromBlock: '0x0', toBlock: hex(head), address, topics })
  const placed = async (log: Log): Promise<Placed> => ({
    txHash: log.transactionHash,
    block: Number(log.blockNumber),
    logIndex: Number(log.logIndex),
    time: await timeOfLog(log),
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
  const ends = await Promise.all(
    (await logsOf(token, [[USED, CANCELLED]])).map(async log => ({
      ...(await placed(log)),
      kind: log.topics[0] === USED ? ('used' as const) : ('cancelled' as const),
      authorizer: address(log.topics[1]),
      nonce: log.topics[2] ?? '',
    })),
  )
  return { head, timeOf, transfers, received, ends }
}
export type ChainFacts = Awaited<ReturnType<typeof readChain>>
