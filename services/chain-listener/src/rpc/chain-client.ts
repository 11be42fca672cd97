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
/** Answers of nodes that have the transaction, or have seen it mined. */
const TAKEN = /already known|already imported|known transaction|nonce too low|already exists/i
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
export function openChainClient(
  { use, ballot, vote }: Pick<Nodes, 'use' | 'ballot' | 'vote'>,
  { chainId, token, dataFee, quorum }: ChainClientOptions,
) {
  /** A refusal that is no answer, by being a revert or otherwise, and what cannot be decoded, is one node's: another is asked. */
  const ask = <T>(
    question: Question,
    calls: readonly Call[],
    decode: (outcomes: readonly Outcome[]) => T,
    isAnswer: (refusal: Refusal) => boolean = () => false,
  ): Promise<T> =>
    use(question, async node => {
      const outcomes = await node.outcomes(calls)
      for (const outcome of outcomes)
        if ('refusal' in outcome && !isRevert(outcome) && !isAnswer(outcome.refusal)) throw toRpcError(outcome.refusal)
      return decode(outcomes)
    })
  const one = <T>(question: Question, decode: (result: unknown) => T, method: string, ...params: unknown[]): Promise<T> =>
    ask(question, [{ method, params }], ([outcome]) => decode(outcome && toResult(outcome)))
  const nonces = async (address: string, enough: (values: number[]) => boolean): Promise<number[]> => {
    const call = { method: 'eth_getTransactionCount', params: [address, 'latest'] }
    const votes = await ballot('call', async node => toCount((await node.outcomes([call])).map(toResult)[0]), enough)
    return votes.map(({ value }) => value).toSorted((a, b) => a - b)
  }
  const questionOf = (block: number | 'latest'): Question => (block === 'latest' ? 'call' : 'state')

  return {
    /** The holders' balances at a block, in the order asked. */
    async balances(addresses: readonly string[], block: number | 'latest'): Promise<bigint[]> {
      const found: bigint[] = []
      for (let first = 0; first < addresses.length; first += BALANCES_AT_ONCE) {
        const some = addresses.slice(first, first + BALANCES_AT_ONCE)
        const decode = (answer: unknown) => decodeBalances(toHex(answer), some.length)
        found.push(...(await one(questionOf(block), decode, 'eth_call', { data: balancesCall(token, some) }, blockTag(block))))
      }
      return found
    },
    /**
     * Runs a call that answers words as if it were mined, at the head or after a block. No words are the answer of a node of another chain, or without
     * the contract. Throws RevertError.
     */
    call: (call: CallRequest, block: number | 'latest' = 'latest') =>
      one(questionOf(block), toWords, 'eth_call', toParams(call), blockTag(block)),
    /** The same in a block of this context, where the node can do that. Throws RevertError. */
    async rehearse(call: CallRequest, { producer, randomness, time }: BlockContext): Promise<string> {
      const block = { feeRecipient: producer, prevRandao: randomness, time: quantity(time) }
      const isRefused = ({ message }: Refusal) => NO_OVERRIDES.test(message)
      const inContext = { method: 'eth_call', params: [toParams(call), 'latest', {}, block] }
      const answer = ([outcome]: readonly Outcome[]) =>
        outcome && 'refusal' in outcome && !isRevert(outcome) ? undefined : toHex(outcome && toResult(outcome))
      return (await ask('call', [inContext], answer, isRefused)) ?? one('call', toHex, 'eth_call', toParams(call), 'latest')
    },
    estimate: (call: CallRequest) => one('call', toQuantity, 'eth_estimateGas', toParams(call)),
    /** Cost of a call's data now beside its gas, with room for a rise. */
    async dataCost({ to, data }: Pick<CallRequest, 'to' | 'data'>): Promise<DataCost> {
      const call = dataFeeCall(dataFee, { chainId, to, data })
      return call ? one('call', answer => decodeDataFee(dataFee, toHex(answer)), 'eth_call', call, 'latest') : NO_DATA_COST
    },
    /** True when a contract stands at the address. An account that delegates to one, by EIP-7702, counts as a contract too. */
    isContract: (address: string) => one('call', code => toHex(code).length > 2, 'eth_getCode', address, 'latest'),
    account: (address: string): Promise<{ balance: bigint; nonce: number }> =>
      ask(
        'call',
        ['eth_getBalance', 'eth_getTransactionCount'].map(method => ({ method, params: [address, 'latest'] })),
        outcomes => {
          const [balance, nonce] = outcomes.map(toResult)
          return { balance: toQuantity(balance), nonce: toCount(nonce) }
        },
      ),
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
    nonceAt: (address: string, block: number) => one('state', toCount, 'eth_getTransactionCount', address, quantity(block)),
    async receipts(hashes: readonly string[]): Promise<Map<string, Receipt>> {
      if (hashes.length === 0) return new Map()
      const decode = (outcomes: readonly Outcome[]) => toReceipts(outcomes.map(toResult))
      return new Map((await ask('call', hashes.map(receiptCall), decode)).map(one => [one.hash, one]))
    },
    /** What used an account's nonce: the receipt of one of these, or how many nodes have it used by none of them; 0 while they are too few. */
    async useOfNonce(address: string, nonce: number, hashes: readonly string[]): Promise<{ receipt?: Receipt; denials: number }> {
      const calls = [{ method: 'eth_getTransactionCount', params: [address, 'latest'] }, ...hashes.map(receiptCall)]
      const votes = await ballot(
        'call',
        async node => {
          const [used, ...found] = (await node.outcomes(calls)).map(toResult)
          const receipt = toReceipts(found).find(({ hash }) => hashes.includes(hash))
          return { receipt, denies: receipt === undefined && toCount(used) > nonce }
        },
        seen => seen.some(({ receipt }) => receipt !== undefined) || seen.filter(({ denies }) => denies).length >= Math.max(2, quorum),
      )
      const receipt = votes.find(({ value }) => value.receipt !== undefined)?.value.receipt
      const denials = votes.filter(({ value }) => value.denies).length
      return receipt ? { receipt, denials: 0 } : { denials: denials >= quorum ? denials : 0 }
    },
    /** Needed of a transaction now, by the chain's fee history; the head's time in Unix seconds. */
    market(): Promise<{ baseFee: bigint; tip: bigint; time: number }> {
      const calls = [
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_feeHistory', params: [quantity(FEE_BLOCKS), 'latest', [FEE_PERCENTILE]] },
        { method: 'eth_maxPriorityFeePerGas', params: [] },
      ]
      const decode = ([block, history, suggested]: readonly Outcome[]) => {
        const head = block && toResult(block)
        const fees = history && 'result' in history ? history.result : undefined
        const next = toQuantity(listIn(fees, 'baseFeePerGas').at(-1) ?? field(head, 'baseFeePerGas') ?? 0)
        // Not every node suggests a tip; a gwei is taken everywhere.
        const asked = suggested && 'result' in suggested ? toQuantity(suggested.result) : 1_000_000_000n
        const paid = listIn(fees, 'reward').flatMap(tips => (Array.isArray(tips) && tips[0] !== undefined ? [toQuantity(tips[0])] : []))
        return { baseFee: next, tip: median(paid, asked), time: toCount(field(head, 'timestamp')) }
      }
      return ask('call', calls, decode, refusal => classify(refusal) === 'unsupported' || !isOfTheNode(refusal))
    },
    /** Sends signed bytes to every node, for one alone may keep them to itself. Answers why each refused; empty when any took them, or has them. */
    async send(raw: string): Promise<string[]> {
      const call = { method: 'eth_sendRawTransaction', params: [raw] }
      const votes = await vote<string | undefined>(
        'send',
        async node => {
          const [outcome] = await node.outcomes([call])
          if (!outcome || !('refusal' in outcome)) return undefined
          if (TAKEN.test(outcome.refusal.message)) return undefined
          if (isOfTheNode(outcome.refusal)) throw toRpcError(outcome.refusal)
          return outcome.refusal.message
        },
        values => values.includes(undefined),
      )
      if (votes.length === 0) throw new NoNodeError('no RPC node takes a transaction now')
      const refusals = votes.flatMap(({ value }) => value ?? [])
      return refusals.length < votes.length ? [] : refusals
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

function toHex(value: unknown): string {
  if (typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value)) return value
  throw new TypeError(`${JSON.stringify(value)?.slice(0, 40)} is no bytes`)
}
function toWords(value: unknown): string {
  const words = toHex(value)
  if (words.length > 2 && (words.length - 2) % 64 === 0) return words
  throw new TypeError(`${words.slice(0, 40)} is no answer of a contract`)
}
const toQuantity = (value: unknown): bigint => BigInt(typeof value === 'number' ? value : toHex(value))
function toCount(value: unknown): number {
  const count = Number(toQuantity(value))
  if (!Number.isSafeInteger(count)) throw new RangeError(`${count} is no count`)
  return count
}

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
  blockNumber: toCount(raw.blockNumber),
  ok: raw.status === '0x1',
  gasUsed: toCount(raw.gasUsed),
  costWei: toQuantity(raw.gasUsed) * toQuantity(raw.effectiveGasPrice ?? 0) + toQuantity(raw.l1Fee ?? 0),
  logs: raw.logs,
})

const toReceipts = (found: readonly unknown[]): Receipt[] => found.flatMap(receipt => (isRaw(receipt) ? [toReceipt(receipt)] : []))
