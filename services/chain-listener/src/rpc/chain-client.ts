import { BALANCES_AT_ONCE, balancesCall, decodeBalances } from './balances'
import { type DataCost, type DataFee, dataFeeCall, decodeDataFee, NO_DATA_COST } from './data-fee'
import { classify, type Refusal, toRpcError } from './error'
import type { Call, Outcome } from './node'
import { type Nodes, NoNodeError, type Question } from './pool'
import type { RawLog } from './raw-log'

export interface Receipt {
  hash: string
  blockNumber: number
  ok: boolean
  gasUsed: number
  /** Cost to its sender, in the coin's smallest unit, with the fee for the layer below where there is one. */
  costWei: bigint
  logs: RawLog[]
}

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
/** Nodes' answers when they take no block context. */
const NO_OVERRIDES = /too many arguments|invalid (params|argument)|override|expected \d+ params|unsupported|not supported/i
/** Blocks of fee history, and the tip that half of their gas paid at most. */
const [FEE_BLOCKS, FEE_PERCENTILE] = [20, 50]

export interface ChainClientOptions {
  chainId: number
  token: string
  dataFee: DataFee
  /** So many nodes decide what no node alone may. */
  quorum: number
}

/** Calls and transactions, over whichever node does it. Throws NoNodeError, and RevertError where a call reverts. */
export function openChainClient({ use, ballot }: Pick<Nodes, 'use' | 'ballot'>, { chainId, token, dataFee, quorum }: ChainClientOptions) {
  /** A refusal that is no answer, by being a revert or otherwise, is one node's: another is asked. */
  const ask = (question: Question, calls: readonly Call[], isAnswer: (refusal: Refusal) => boolean = () => false): Promise<Outcome[]> =>
    use(question, async node => {
      const outcomes = await node.outcomes(calls)
      for (const outcome of outcomes)
        if ('refusal' in outcome && !isRevert(outcome) && !isAnswer(outcome.refusal)) throw toRpcError(outcome.refusal)
      return outcomes
    })
  const results = async (question: Question, calls: readonly Call[]): Promise<unknown[]> =>
    calls.length === 0 ? [] : (await ask(question, calls)).map(toResult)
  const one = async <T>(question: Question, method: string, ...params: unknown[]): Promise<T> =>
    (await results(question, [{ method, params }]))[0] as T
  const nonces = async (address: string, enough: (values: number[]) => boolean): Promise<number[]> => {
    const call = { method: 'eth_getTransactionCount', params: [address, 'latest'] }
    const votes = await ballot('call', async node => Number((await node.outcomes([call])).map(toResult)[0]), enough)
    return votes.map(({ value }) => value).toSorted((a, b) => a - b)
  }
  const questionOf = (block: number | 'latest'): Question => (block === 'latest' ? 'call' : 'state')

  return {
    /** The holders' balances at a block, in the order asked. */
    async balances(addresses: readonly string[], block: number | 'latest'): Promise<bigint[]> {
      const found: bigint[] = []
      for (let first = 0; first < addresses.length; first += BALANCES_AT_ONCE) {
        const some = addresses.slice(first, first + BALANCES_AT_ONCE)
        const answer = await one<string>(questionOf(block), 'eth_call', { data: balancesCall(token, some) }, blockTag(block))
        found.push(...decodeBalances(answer, some.length))
      }
      return found
    },
    /** Runs a call as if it were mined, at the head or after a block. Throws RevertError. */
    call: (call: CallRequest, block: number | 'latest' = 'latest') =>
      one<string>(questionOf(block), 'eth_call', toParams(call), blockTag(block)),
    /** The same in a block of this context, where the node can do that. Throws RevertError. */
    async rehearse(call: CallRequest, { producer, randomness, time }: BlockContext): Promise<string> {
      const block = { feeRecipient: producer, prevRandao: randomness, time: quantity(time) }
      const isRefused = ({ message }: Refusal) => NO_OVERRIDES.test(message)
      const [outcome] = await ask('call', [{ method: 'eth_call', params: [toParams(call), 'latest', {}, block] }], isRefused)
      if (outcome && 'refusal' in outcome && !isRevert(outcome)) return one<string>('call', 'eth_call', toParams(call), 'latest')
      return String(outcome && toResult(outcome))
    },
    estimate: async (call: CallRequest) => BigInt(await one<string>('call', 'eth_estimateGas', toParams(call))),
    /** Cost of a call's data now beside its gas, with room for a rise. */
    async dataCost({ to, data }: Pick<CallRequest, 'to' | 'data'>): Promise<DataCost> {
      const call = dataFeeCall(dataFee, { chainId, to, data })
      return call ? decodeDataFee(dataFee, await one<string>('call', 'eth_call', call, 'latest')) : NO_DATA_COST
    },
    /** True when a contract stands at the address. An account that delegates to one, by EIP-7702, counts as a contract too. */
    isContract: async (address: string) => (await one<string>('call', 'eth_getCode', address, 'latest')).length > 2,
    async account(address: string): Promise<{ balance: bigint; nonce: number }> {
      const [balance, nonce] = await results('call', [
        { method: 'eth_getBalance', params: [address, 'latest'] },
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
      ])
      return { balance: BigInt(String(balance)), nonce: Number(nonce) }
    },
    /** The account's next nonce as far as enough nodes have come: beyond what one alone states there may be a gap that nothing fills. */
    async nextNonce(address: string): Promise<number> {
      const agreed = (await nonces(address, () => false)).at(-quorum)
      if (agreed === undefined) throw new NoNodeError('too few nodes state the next nonce of an account')
      return agreed
    },
    /** So many of an account's nonces are used at least, and at most, as enough nodes state; undefined while too few answer. */
    async usedNonces(address: string): Promise<{ atLeast: number; atMost: number } | undefined> {
      const stated = await nonces(address, values => values.some(value => values.filter(other => other === value).length >= quorum))
      const [atLeast, atMost] = [stated.at(-quorum), stated[quorum - 1]]
      return atLeast === undefined || atMost === undefined ? undefined : { atLeast, atMost }
    },
    nonceAt: async (address: string, block: number) =>
      Number(await one<string>('state', 'eth_getTransactionCount', address, quantity(block))),
    async receipts(hashes: readonly string[]): Promise<Map<string, Receipt>> {
      const found = await results('call', hashes.map(receiptCall))
      return new Map(toReceipts(found).map(one => [one.hash, one]))
    },
    /** What used an account's nonce: the receipt of one of these, or how many nodes have it used by none of them; 0 while they are too few. */
    async useOfNonce(address: string, nonce: number, hashes: readonly string[]): Promise<{ receipt?: Receipt; denials: number }> {
      const calls = [{ method: 'eth_getTransactionCount', params: [address, 'latest'] }, ...hashes.map(receiptCall)]
      const votes = await ballot(
        'call',
        async node => {
          const [used, ...found] = (await node.outcomes(calls)).map(toResult)
          const [receipt] = toReceipts(found)
          return { receipt, denies: receipt === undefined && Number(used) > nonce }
        },
        seen => seen.some(({ receipt }) => receipt !== undefined) || seen.filter(({ denies }) => denies).length >= Math.max(2, quorum),
      )
      const receipt = votes.find(({ value }) => value.receipt !== undefined)?.value.receipt
      const denials = votes.filter(({ value }) => value.denies).length
      return receipt ? { receipt, denials: 0 } : { denials: denials >= quorum ? denials : 0 }
    },
    /** Needed of a transaction now, by the chain's fee history; the head's time in Unix seconds. */
    async market(): Promise<{ baseFee: bigint; tip: bigint; time: number }> {
      const calls = [
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_feeHistory', params: [quantity(FEE_BLOCKS), 'latest', [FEE_PERCENTILE]] },
        { method: 'eth_maxPriorityFeePerGas', params: [] },
      ]
      const [block, history, suggested] = await ask('call', calls, refusal => classify(refusal) === 'unsupported' || !isOfTheNode(refusal))
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
      const [outcome] = await ask('send', [{ method: 'eth_sendRawTransaction', params: [raw] }], refusal => !isOfTheNode(refusal))
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

const isOfTheNode = (refusal: Refusal) => ['rate_limited', 'unavailable', 'unsupported'].includes(classify(refusal))

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

const receiptCall = (hash: string): Call => ({ method: 'eth_getTransactionReceipt', params: [hash] })

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

const toReceipts = (found: readonly unknown[]): Receipt[] => found.flatMap(receipt => (isRaw(receipt) ? [toReceipt(receipt)] : []))
