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
  /** What it cost its sender, in the coin's smallest unit, with the fee for the layer below where there is one. */
  costWei: bigint
  logs: RawLog[]
}

/** A call as it would be sent. */
export interface CallRequest {
  from?: string
  to: string
  data: string
  /** Most gas it may use; the node's own limit without it. */
  gas?: bigint
  maxPrice?: bigint
  tip?: bigint
}

/** Makes a rehearsal look like a block: who produces it, its randomness and its time in Unix seconds. */
export interface BlockContext {
  producer: string
  randomness: string
  time: number
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
const blockTag = (block: number | 'latest') => (block === 'latest' ? block : quantity(block))
const REVERTED =
  /revert|out of gas|invalid opcode|exceeds (the )?(balance|allowance)|insufficient (funds|balance)|gas required exceeds|intrinsic gas/i
/** How a node reports that it takes no block context. */
const NO_OVERRIDES = /too many arguments|invalid (params|argument)|override|expected \d+ params|unsupported|not supported/i
/** Blocks of fee history, and the tip that half of their gas paid at most. */
const [FEE_BLOCKS, FEE_PERCENTILE] = [20, 50]

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
        const answer = await one<string>('eth_call', { data: balancesCall(token, some) }, blockTag(block))
        found.push(...decodeBalances(answer, some.length))
      }
      return found
    },
    /** Runs a call as if it were mined, at the head or after a block. Throws RevertError. */
    call: (call: CallRequest, block: number | 'latest' = 'latest') => one<string>('eth_call', toParams(call), blockTag(block)),
    /** The same in a block of this context, where the node can do that. Throws RevertError. */
    async rehearse(call: CallRequest, { producer, randomness, time }: BlockContext): Promise<string> {
      const block = { feeRecipient: producer, prevRandao: randomness, time: quantity(time) }
      const [outcome] = await ask([{ method: 'eth_call', params: [toParams(call), 'latest', {}, block] }])
      if (outcome && 'refusal' in outcome && !isRevert(outcome) && NO_OVERRIDES.test(outcome.refusal.message))
        return one<string>('eth_call', toParams(call), 'latest')
      return String(outcome && toResult(outcome))
    },
    estimate: async (call: CallRequest) => BigInt(await one<string>('eth_estimateGas', toParams(call))),
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
    /** What a transaction would have to offer now, by the chain's fee history, and the head's time in Unix seconds. */
    async market(): Promise<{ baseFee: bigint; tip: bigint; time: number }> {
      const [block, history, suggested] = await ask([
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_feeHistory', params: [quantity(FEE_BLOCKS), 'latest', [FEE_PERCENTILE]] },
        { method: 'eth_maxPriorityFeePerGas', params: [] },
      ])
      const head = block ? toResult(block) : undefined
      const fees = history && 'result' in history ? history.result : undefined
      const next = BigInt(String(listIn(fees, 'baseFeePerGas').at(-1) ?? field(head, 'baseFeePerGas') ?? 0))
      // Not every node suggests a tip; a gwei is taken everywhere.
      const asked = suggested && 'result' in suggested ? BigInt(String(suggested.result)) : 1_000_000_000n
      const paid = listIn(fees, 'reward').flatMap(tips => (Array.isArray(tips) && tips[0] !== undefined ? [BigInt(String(tips[0]))] : []))
      return { baseFee: next, tip: median(paid, asked), time: Number(field(head, 'timestamp') ?? 0) }
    },
    /** Sends signed bytes. Answers the node's refusal; undefined when it took them. */
    async send(raw: string): Promise<string | undefined> {
      const [outcome] = await ask([{ method: 'eth_sendRawTransaction', params: [raw] }])
      return outcome && 'refusal' in outcome ? outcome.refusal.message : undefined
    },
  }
}

const toParams = ({ from, to, data, gas, maxPrice, tip }: CallRequest) => ({
  ...(from === undefined ? {} : { from }),
  to,
  data,
  ...(gas === undefined ? {} : { gas: quantity(gas) }),
  ...(maxPrice === undefined ? {} : { maxFeePerGas: quantity(maxPrice), maxPriorityFeePerGas: quantity(tip ?? 0n) }),
})

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
const listIn = (value: unknown, name: string): unknown[] => {
  const found = field(value, name)
  return Array.isArray(found) ? found : []
}
/** Empty blocks report a tip of zero: what the node suggests is the least. */
function median(tips: readonly bigint[], least: bigint): bigint {
  const middle = tips.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[Math.floor(tips.length / 2)] ?? 0n
  return middle > least ? middle : least
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
  effectiveGasPrice?: string
  l1Fee?: string
  logs: RawLog[]
}

const isRaw = (value: unknown): value is RawReceipt =>
  typeof value === 'object' && value !== null && 'transactionHash' in value && 'blockNumber' in value && value.blockNumber !== null

const toReceipt = (raw: RawReceipt): Receipt => ({
  hash: raw.transactionHash,
  blockNumber: Number(raw.blockNumber),
  ok: raw.status === '0x1',
  gasUsed: Number(raw.gasUsed),
  costWei: BigInt(raw.gasUsed) * BigInt(raw.effectiveGasPrice ?? 0) + BigInt(raw.l1Fee ?? 0),
  logs: raw.logs,
})
