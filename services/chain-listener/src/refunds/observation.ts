import { endLog, endTopics, type ReturnTerms, toNonceEnd } from '../logs/nonce-end'
import { TRANSFER_TOPIC, topicOf } from '../logs/transfer'
import { type AgreementOptions, agreedOn, demandConfirmed, lenient, logsBetween } from '../outcomes/agreement'
import { blockCall, chainCall, demandHeader, strictly } from '../proof/header'
import type { Node } from '../rpc/node'
import { nonceCalls, toWord } from '../rpc/nonce-state'
import type { Confirmed } from '../store/confirmed'
import type { Observed, Watched } from './store'

export interface ObservationOptions extends AgreementOptions {
  token: string
}

/** So often a node is asked for an end that it does not show, for all that are watched at once. */
const REFUSALS_MAX = 10

/** What one node has of a nonce at the confirmed block. */
type Seen = Pick<Observed, 'balance' | 'ended'>

/**
 * What enough nodes have at a confirmed block. The token's state decides whether a nonce has ended at all, so that logs that a node has not indexed yet never make a
 * signature seem void; how it ended its logs tell, and a node that does not show them has no vote. Those of which too few nodes say the same are left out.
 */
export function createObservation(options: ObservationOptions) {
  const { token } = options
  const loose = lenient(options.rules)

  const logsIn = (node: Node, from: number, to: number, topics: readonly unknown[]) =>
    logsBetween(node, from, to, { address: token, topics })
  const endOn = async (node: Node, watched: Watched, confirmed: Confirmed): Promise<Seen['ended']> => {
    const within = (from: number, to: number) => logsIn(node, from, to, endTopics(watched))
    const at = watched.ended?.blockNumber
    const known = at === undefined ? undefined : endLog(await within(at, at), watched, token)
    const log = known ?? endLog(await within(watched.watchFrom, confirmed.number), watched, token)
    if (!log) throw new Error(`the node has nonce ${watched.nonce} used or cancelled, and shows no log of it`)
    const number = Number(log.blockNumber)
    const transfers = await logsIn(node, number, number, [TRANSFER_TOPIC, topicOf(watched.fromAddress), topicOf(watched.payee)])
    const { results } = await node.ask([blockCall(number)])
    const header = demandHeader(results[0], number, loose)
    if (header.hash !== log.blockHash) throw new Error(`block ${number} changed while the end of nonce ${watched.nonce} was read`)
    const { blockHash: _, ...end } = toNonceEnd(log, transfers, watched satisfies ReturnTerms)
    return { ...end, blockTime: header.time }
  }
  const seenOn = (node: Node, confirmed: Confirmed, watched: readonly Watched[]): Promise<Map<string, Seen>> =>
    strictly(async () => {
      const calls = watched.flatMap(each => nonceCalls(token, each, confirmed.number))
      const { results } = await node.ask([chainCall, ...calls, blockCall(confirmed.number)])
      demandConfirmed(loose, confirmed, results[0], results.at(-1))
      const seen = new Map<string, Seen>()
      let refusals = 0
      for (const [index, each] of watched.entries()) {
        const [state, balance] = [toWord(results[1 + 2 * index]), toWord(results[2 + 2 * index])]
        if (state === 0n) seen.set(each.refundId, { balance, ended: null })
        // A node may have dropped the logs of one that ended long ago: that one it has no vote about.
        else if (refusals < REFUSALS_MAX)
          await endOn(node, each, confirmed).then(
            ended => seen.set(each.refundId, { balance, ended }),
            () => refusals++,
          )
      }
      return seen
    })
  return async (confirmed: Confirmed, watched: readonly Watched[]): Promise<Observed[]> => {
    const ids = watched.map(({ refundId }) => refundId)
    const found = await agreedOn(options, ids, node => seenOn(node, confirmed, watched))
    return watched.flatMap(each => {
      const seen = found.get(each.refundId)
      if (!seen) return []
      const isFinal = seen.ended !== null && confirmed.number - seen.ended.blockNumber >= options.window
      // A refund that is made and never signed is not searched for from its first block on when it ends. By the word of one node its end could be hidden for ever.
      const isUnused = seen.ended === null && options.quorum > 1
      const searchFrom = isUnused ? Math.max(each.watchFrom, confirmed.number - options.window) : each.watchFrom
      return [{ watched: each, ...seen, isFinal, searchFrom }]
    })
  }
}
