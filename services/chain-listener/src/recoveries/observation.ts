import type { HeaderRules } from '../logs/header'
import { isRecovered, RECOVERED_TOPIC } from '../logs/recovered'
import { blockCall, chainCall, demandChain, demandHeader, strictly } from '../proof/header'
import type { Confirmed } from '../refunds/store'
import type { Node } from '../rpc/node'
import type { Nodes } from '../rpc/pool'
import { asFarAsBorne } from '../rpc/range-limit'
import type { RawLog } from '../rpc/raw-log'
import type { Observed, RecoveryEnd, Watched } from './store'

export interface ObservationOptions {
  nodes: Nodes
  rules: HeaderRules
  quorum: number
  /** Deeper than this no reorganisation is followed. */
  window: number
}

const hex = (number: number) => `0x${number.toString(16)}`

/** The ends that enough nodes show up to a confirmed block, by the routers' own logs. Those of which too few show the same are left out. */
export function createObservation({ nodes, rules, quorum, window }: ObservationOptions) {
  // Its hash is compared with that of our own block, which was proven.
  const lenient = { ...rules, header: null, latestTime: () => Number.POSITIVE_INFINITY }

  const logsOf = async (node: Node, watched: readonly Watched[], to: number): Promise<RawLog[]> => {
    const address = [...new Set(watched.map(({ router }) => router))]
    const topics = [RECOVERED_TOPIC, [...new Set(watched.map(({ memo }) => `0x${memo}`))]]
    const found: RawLog[] = []
    for (let next = Math.min(...watched.map(({ ended, watchFrom }) => ended?.blockNumber ?? watchFrom)); next <= to; ) {
      const { logs, end } = await asFarAsBorne(node.range('transfers'), { from: next, to }, async last => {
        const { results, bytes, ms } = await node.ask([
          { method: 'eth_getLogs', params: [{ fromBlock: hex(next), toBlock: hex(last), address, topics }] },
        ])
        return { logs: (results[0] ?? []) as RawLog[], end: last, bytes, ms }
      })
      found.push(...logs)
      next = end + 1
    }
    return found
  }
  const timeIn = async (node: Node, { blockNumber, blockHash }: RawLog): Promise<number> => {
    const number = Number(blockNumber)
    const header = demandHeader((await node.ask([blockCall(number)])).results[0], number, lenient)
    if (header.hash !== blockHash) throw new Error(`block ${number} changed while what was recovered in it was read`)
    return header.time
  }
  const seenOn = (node: Node, confirmed: Confirmed, watched: readonly Watched[]): Promise<Map<string, RecoveryEnd | null>> =>
    strictly(async () => {
      const logs = await logsOf(node, watched, confirmed.number)
      const seen = new Map<string, RecoveryEnd | null>()
      for (const each of watched) {
        const [first] = logs
          .filter(log => Number(log.blockNumber) >= each.watchFrom && isRecovered(log, each))
          .sort((a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex))
        const end = first && { txHash: first.transactionHash, units: BigInt(first.data), blockNumber: Number(first.blockNumber) }
        seen.set(each.recoveryId, end ? { ...end, blockTime: await timeIn(node, first) } : null)
      }
      // Asked last, so that all of the above is of a chain that still has our block.
      const { results } = await node.ask([chainCall, blockCall(confirmed.number)])
      demandChain(lenient, results[0])
      if (demandHeader(results[1], confirmed.number, lenient).hash !== confirmed.hash)
        throw new Error('the node has another confirmed block')
      return seen
    })
  const agreed = (votes: readonly Map<string, RecoveryEnd | null>[], { recoveryId }: Watched): RecoveryEnd | null | undefined => {
    const texts = votes.map(vote => digest(vote.get(recoveryId)))
    const index = texts.findIndex(text => texts.filter(other => other === text).length >= quorum)
    return votes[index]?.get(recoveryId)
  }
  return async (confirmed: Confirmed, watched: readonly Watched[]): Promise<Observed[]> => {
    const votes = await nodes.vote(
      'state',
      node => seenOn(node, confirmed, watched),
      values => watched.every(each => agreed(values, each) !== undefined),
    )
    const values = votes.map(({ value }) => value)
    return watched.flatMap(each => {
      const ended = agreed(values, each)
      if (ended === undefined) return []
      return [{ watched: each, ended, isFinal: ended !== null && confirmed.number - ended.blockNumber >= window }]
    })
  }
}

const digest = (end: RecoveryEnd | null | undefined): string =>
  JSON.stringify(end, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
