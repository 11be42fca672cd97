import { BALANCES_AT_ONCE, balancesCall, decodeBalances } from './balances'
import { classify, toRpcError } from './error'
import type { Call, Outcome } from './node'
import type { Nodes } from './pool'
import type { RawLog } from './raw-log'

export interface Receipt {
  hash: string
  blockNumber: number
  ok: boolean
  gasUsed: number
  logs: RawLog[]
}

/** The call reverts: an answer, not a failure. */
export class RevertError extends Error {
  override name = 'RevertError'

  constructor(
    message: string,
    readonly data: string | null,
  ) {
    super(message)
  }
}

export type ChainClient = ReturnType<typeof openChainClient>

const quantity = (value: number | bigint) => `0x${value.toString(16)}`
const REVERTED = /revert|out of gas|invalid opcode|exceeds (the )?(balance|allowance)|insufficient (funds|balance)|gas required exceeds/i

/** Calls and transactions, over whichever node does it. Throws RpcError, NoNodeError, and RevertError where a call reverts. */
export function openChainClient(nodes: Nodes, token: string) {
  const ask = (calls: readonly Call[]): Promise<Outcome[]> =>
    nodes.use(async node => {
      const outcomes = await node.outcomes(calls)
      for (const outcome of outcomes) {
        if (!('refusal' in outcome) || isRevert(outcome)) continue
        const kind = classify(outcome.refusal)
        if (kind === 'rate_limited' || kind === 'unavailable') throw toRpcError(outcome.refusal)
      }
      return outcomes
    })
  const results = async (calls: readonly Call[]): Promise<unknown[]> => (calls.length === 0 ? [] : (await ask(calls)).map(toResult))
  const one = async <T>(method: string, ...params: unknown[]): Promise<T> => (await results([{ method, params }]))[0] as T

  return {
    /** What the token's holders have at a block, in the order asked. */
    async balances(addresses: readonly string[], block: number | 'latest'): Promise<bigint[]> {
      const found: bigint[] = []
      for (let first = 0; first < addresses.length; first += BALANCES_AT_ONCE) {
        const some = addresses.slice(first, first + BALANCES_AT_ONCE)
        const answer = await one<string>('eth_call', { data: balancesCall(token, some) }, block === 'latest' ? block : quantity(block))
        found.push(...decodeBalances(answer, some.length))
      }
      return found
    },
    /** Runs a call at the head as if it were mined. Throws RevertError. */
    call: (call: { from?: string; to: string; data: string }) => one<string>('eth_call', call, 'latest'),
    estimate: async (call: { from: string; to: string; data: string }) => BigInt(await one<string>('eth_estimateGas', call)),
    /** True when a contract stands at the address. An account that delegates to one, by EIP-7702, counts as a contract too. */
    isContract: async (address: string) => (await one<string>('eth_getCode', address, 'latest')).length > 2,
    /** Native coin and used nonces of an account at the head. */
    async account(address: string): Promise<{ balance: bigint; nonce: number }> {
      const [balance, nonce] = await results([
        { method: 'eth_getBalance', params: [address, 'latest'] },
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
      ])
      return { balance: BigInt(String(balance)), nonce: Number(nonce) }
    },
    /** Used nonces of an account at a block. */
    nonceAt: async (address: string, block: number) => Number(await one<string>('eth_getTransactionCount', address, quantity(block))),
    /** The receipts of those that are mined. */
    async receipts(hashes: readonly string[]): Promise<Map<string, Receipt>> {
      const found = await results(hashes.map(hash => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
      return new Map(found.flatMap(receipt => (isRaw(receipt) ? [toReceipt(receipt)].map(one => [one.hash, one] as const) : [])))
    },
    /** What a transaction would have to offer now. */
    async market(): Promise<{ baseFee: bigint; tip: bigint }> {
      const [block, tip] = await ask([
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_maxPriorityFeePerGas', params: [] },
      ])
      const head = block ? toResult(block) : undefined
      const baseFee = typeof head === 'object' && head !== null ? Reflect.get(head, 'baseFeePerGas') : undefined
      // Not every node suggests a tip; a gwei is taken everywhere.
      return { baseFee: BigInt(String(baseFee ?? 0)), tip: tip && 'result' in tip ? BigInt(String(tip.result)) : 1_000_000_000n }
    },
    /** Sends signed bytes. Answers the node's refusal; undefined when it took them. */
    async send(raw: string): Promise<string | undefined> {
      const [outcome] = await ask([{ method: 'eth_sendRawTransaction', params: [raw] }])
      return outcome && 'refusal' in outcome ? outcome.refusal.message : undefined
    },
  }
}

const isRevert = (outcome: Outcome) => 'refusal' in outcome && (outcome.refusal.code === 3 || REVERTED.test(outcome.refusal.message))

function toResult(outcome: Outcome): unknown {
  if ('result' in outcome) return outcome.result
  const { message, data } = outcome.refusal
  if (isRevert(outcome)) throw new RevertError(message, typeof data === 'string' ? data : null)
  throw toRpcError(outcome.refusal)
}

interface RawReceipt {
  transactionHash: string
  blockNumber: string
  status: string
  gasUsed: string
  logs: RawLog[]
}

const isRaw = (value: unknown): value is RawReceipt =>
  typeof value === 'object' && value !== null && 'transactionHash' in value && 'blockNumber' in value && value.blockNumber !== null

const toReceipt = (raw: RawReceipt): Receipt => ({
  hash: raw.transactionHash,
  blockNumber: Number(raw.blockNumber),
  ok: raw.status === '0x1',
  gasUsed: Number(raw.gasUsed),
  logs: raw.logs,
})
