import type { TransactionFacts } from '@ponte/contracts'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { createChecksums } from './logs/checksums'
import { decodePayment, toNumber } from './logs/payment-received'
import { decodeTransfer, isTransferLog } from './logs/transfer'
import { blockCall, chainCall, demandChain, demandHeader, strictly } from './proof/header'
import { RpcError } from './rpc/error'
import type { Call, Node } from './rpc/node'
import type { Nodes, Vote } from './rpc/pool'
import type { RawLog } from './rpc/raw-log'

export interface TransactionReaderOptions {
  chainId: number
  token: string
  routers: readonly string[]
  quorum: number
  nodes: Nodes
}

/** Answers undefined while too few nodes agree. What was sent to `first` is listed first. */
export type ReadTransaction = (hash: string, first?: string) => Promise<TransactionFacts | undefined>

/** One node's view, with the highest block that it has. */
interface Shown {
  facts: Omit<TransactionFacts, 'depth'>
  block: number | null
  blockHash: string | null
  head: number
}

/** A transaction may hold any number of logs, and what is passed on has to fit into a request. */
const LISTED_MAX = 150

/**
 * Reads what a transaction is, for an answer to a question: nothing is confirmed by it. A node that does not have it yet denies nothing, so that it is not found only where
 * enough nodes have none of it and no node shows any of it.
 */
export function createTransactionReader({ chainId, token, routers, quorum, nodes }: TransactionReaderOptions): ReadTransaction {
  const rules = { chainId, header: null, latestTime: () => Number.POSITIVE_INFINITY }
  const checksum = createChecksums()
  const nothing = { chain_id: chainId, block_time: null, transfers: [], payments: [] }

  const paymentIn = (log: RawLog) => {
    const { kind, router, memo, merchant, amount } = decodePayment(log)
    const place = { token_address: checksum(token), router_address: checksum(router), merchant_address: checksum(merchant) }
    return { ...place, memo, units: String(amount), is_sweep: kind === 'sweep' }
  }
  const read = async (node: Node, hash: string, first: string | undefined): Promise<Shown> => {
    const { results } = await node.ask([
      chainCall,
      headCall,
      byHash('eth_getTransactionReceipt', hash),
      byHash('eth_getTransactionByHash', hash),
    ])
    demandChain(rules, results[0])
    const [receipt, sent] = [results[2] as RawReceipt | null, results[3] as RawTransaction | null]
    const place = { block: null, blockHash: null, head: toNumber(results[1]) }
    if (!receipt?.blockHash) return { ...place, facts: { ...nothing, status: sent ? 'pending' : 'not_found' } }
    const number = toNumber(receipt.blockNumber)
    const block = demandHeader((await node.ask([blockCall(number)])).results[0], number, rules)
    if (block.hash !== receipt.blockHash) throw new RpcError('other', `block ${number} changed while its transaction ${hash} was read`)
    const mined = { block: number, blockHash: block.hash, head: Math.max(place.head, number) }
    const facts = { ...nothing, block_time: new Date(block.time * 1_000).toISOString() }
    if (receipt.status !== '0x1') return { ...mined, facts: { ...facts, status: 'reverted' } }
    const payments = receipt.logs.filter(log => log.topics[0] === PAYMENT_RECEIVED_TOPIC && routers.includes(log.address.toLowerCase()))
    return {
      ...mined,
      facts: {
        ...facts,
        status: 'mined',
        transfers: [...coinIn(sent), ...transfersIn(receipt.logs)]
          .sort(byInterest(token, first?.toLowerCase()))
          .slice(0, LISTED_MAX)
          .map(one => ({ ...one, token_address: one.token_address && checksum(one.token_address), to_address: checksum(one.to_address) })),
        payments: payments.slice(0, LISTED_MAX).map(paymentIn),
      },
    }
  }
  const agreed = (shown: readonly Shown[]): readonly Shown[] | undefined => {
    const alike = Map.groupBy(shown, ({ facts, blockHash }) => JSON.stringify([facts, blockHash]))
    return [...alike.values()].find(some => some.length >= quorum && some[0]?.block !== null)
  }
  return async (hash, first) => {
    const votes: Vote<Shown>[] = await nodes.vote(
      'call',
      node => strictly(() => read(node, hash, first)),
      values => agreed(values) !== undefined,
    )
    const shown = votes.map(({ value }) => value)
    const [same, ...others] = agreed(shown) ?? []
    if (same) return { ...same.facts, depth: depthOf([same, ...others], quorum) }
    if (shown.length < quorum || shown.some(({ block }) => block !== null)) return undefined
    return { ...nothing, depth: 0, status: shown.some(({ facts }) => facts.status === 'pending') ? 'pending' : 'not_found' }
  }
}

interface RawReceipt {
  blockHash?: string | null
  blockNumber: unknown
  status?: string
  logs: RawLog[]
}
interface RawTransaction {
  to?: string | null
  value?: string
}

const headCall: Call = { method: 'eth_blockNumber', params: [] }
const byHash = (method: string, hash: string): Call => ({ method, params: [hash] })

/** As deep as enough nodes have come: any node can show blocks above the head. */
const depthOf = (shown: readonly Shown[], quorum: number) =>
  (shown.map(({ head }) => head).sort((a, b) => b - a)[quorum - 1] ?? 0) - (shown[0]?.block ?? 0) + 1

type Transfer = TransactionFacts['transfers'][number]

/** The network's own coin, sent by the transaction itself. */
const coinIn = (sent: RawTransaction | null): Transfer[] =>
  sent?.to && BigInt(sent.value ?? 0) > 0n
    ? [{ token_address: null, to_address: sent.to.toLowerCase(), units: String(BigInt(sent.value ?? 0)) }]
    : []

const transfersIn = (logs: readonly RawLog[]): Transfer[] =>
  logs.filter(isTransferLog).flatMap(log => {
    const token = log.address.toLowerCase()
    const { to, amount } = decodeTransfer(log, token)
    return amount === 0n ? [] : [{ token_address: token, to_address: to, units: String(amount) }]
  })

const byInterest = (token: string, first: string | undefined) => {
  const rank = ({ token_address, to_address }: Transfer) => (to_address === first ? 0 : 2) + (token_address === token ? 0 : 1)
  return (a: Transfer, b: Transfer) => rank(a) - rank(b)
}
