import type { HeaderRules } from '../logs/header'
import { endLog, endTopics, type ReturnTerms, toNonceEnd } from '../logs/nonce-end'
import { TRANSFER_TOPIC, topicOf } from '../logs/transfer'
import { blockCall, chainCall, demandChain, demandHeader, strictly } from '../proof/header'
import type { Node } from '../rpc/node'
import { nonceCalls, toWord } from '../rpc/nonce-state'
import type { Nodes } from '../rpc/pool'
import { asFarAsBorne } from '../rpc/range-limit'
import type { RawLog } from '../rpc/raw-log'
import type { Confirmed, Observed, Watched } from './store'

export interface ObservationOptions {
  nodes: Nodes
  rules: HeaderRules
  token: string
  quorum: number
  /** Deeper than this no reorganisation is followed. */
  window: number
}

/** What one node has of a nonce at the confirmed block. */
type Seen = Pick<Observed, 'balance' | 'ended'>

const hex = (number: number) => `0x${number.toString(16)}`

/**
 * What enough nodes have at a confirmed block. The token's state decides whether a nonce has ended at all, so that logs that a node has not indexed yet never make a
 * signature seem void; how it ended its logs tell, and a node that does not show them has no vote. Those of which too few nodes say the same are left out.
 */
export function createObservation({ nodes, rules, token, quorum, window }: ObservationOptions) {
  // Its hash is compared with that of our own block, which was proven.
  const lenient = { ...rules, header: null, latestTime: () => Number.POSITIVE_INFINITY }

  const logsIn = async (node: Node, from: number, to: number, topics: readonly unknown[]): Promise<RawLog[]> => {
    const found: RawLog[] = []
    for (let next = from; next <= to; ) {
      const { logs, end } = await asFarAsBorne(node.range('transfers'), { from: next, to }, async last => {
        const params = [{ fromBlock: hex(next), toBlock: hex(last), address: token, topics }]
        const { results, bytes, ms } = await node.ask([{ method: 'eth_getLogs', params }])
        return { logs: (results[0] ?? []) as RawLog[], end: last, bytes, ms }
      })
      found.push(...logs)
      next = end + 1
    }
    return found
  }
  const endOn = async (node: Node, watched: Watched, confirmed: Confirmed): Promise<Seen['ended']> => {
    const within = (from: number, to: number) => logsIn(node, from, to, endTopics(watched))
    const at = watched.ended?.blockNumber
    const known = at === undefined ? undefined : endLog(await within(at, at), watched, token)
    const log = known ?? endLog(await within(watched.watchFrom, confirmed.number), watched, token)
    if (!log) throw new Error(`the node has nonce ${watched.nonce} used or cancelled, and shows no log of it`)
    const number = Number(log.blockNumber)
    const transfers = await logsIn(node, number, number, [TRANSFER_TOPIC, topicOf(watched.fromAddress), topicOf(watched.payee)])
    const { results } = await node.ask([blockCall(number)])
    const header = demandHeader(results[0], number, lenient)
    if (header.hash !== log.blockHash) throw new Error(`block ${number} changed while the end of nonce ${watched.nonce} was read`)
    const { blockHash: _, ...end } = toNonceEnd(log, transfers, watched satisfies ReturnTerms)
    return { ...end, blockTime: header.time }
  }
  const seenOn = (node: Node, confirmed: Confirmed, watched: readonly Watched[]): Promise<Map<string, Seen>> =>
    strictly(async () => {
      const calls = watched.flatMap(each => nonceCalls(token, each, confirmed.number))
      const { results } = await node.ask([chainCall, ...calls, blockCall(confirmed.number)])
      demandChain(lenient, results[0])
      if (demandHeader(results.at(-1), confirmed.number, lenient).hash !== confirmed.hash)
        throw new Error('the node has another confirmed block')
      const seen = new Map<string, Seen>()
      for (const [index, each] of watched.entries()) {
        const [state, balance] = [toWord(results[1 + 2 * index]), toWord(results[2 + 2 * index])]
        seen.set(each.refundId, { balance, ended: state === 0n ? null : await endOn(node, each, confirmed) })
      }
      return seen
    })
  const agreed = (votes: readonly Map<string, Seen>[], { refundId }: Watched): Seen | undefined => {
    const texts = votes.map(vote => digest(vote.get(refundId)))
    const index = texts.findIndex(text => texts.filter(other => other === text).length >= quorum)
    return votes[index]?.get(refundId)
  }
  return async (confirmed: Confirmed, watched: readonly Watched[]): Promise<Observed[]> => {
    const votes = await nodes.vote(
      'state',
      node => seenOn(node, confirmed, watched),
      values => watched.every(each => agreed(values, each) !== undefined),
    )
    const values = votes.map(({ value }) => value)
    return watched.flatMap(each => {
      const seen = agreed(values, each)
      if (!seen) return []
      const isFinal = seen.ended !== null && confirmed.number - seen.ended.blockNumber >= window
      return [{ watched: each, ...seen, isFinal }]
    })
  }
}

const digest = (seen: Seen | undefined): string =>
  JSON.stringify(seen, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
