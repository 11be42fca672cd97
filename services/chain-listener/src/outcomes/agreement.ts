import type { HeaderRules } from '../logs/header-rules'
import { demandChain, demandHeader } from '../proof/header'
import type { Node } from '../rpc/node'
import type { Nodes } from '../rpc/pool'
import { asFarAsBorne } from '../rpc/range-limit'
import type { RawLog } from '../rpc/raw-log'
import type { Confirmed } from '../store/confirmed'

export interface AgreementOptions {
  nodes: Nodes
  rules: HeaderRules
  quorum: number
  /** Deeper than this no reorganisation is followed. */
  window: number
}

const hex = (number: number) => `0x${number.toString(16)}`

/** Logs of these topics in a range of blocks, however many questions the node wants for it. */
export async function logsBetween(node: Node, from: number, to: number, filter: { address: unknown; topics: unknown }): Promise<RawLog[]> {
  const found: RawLog[] = []
  for (let next = from; next <= to; ) {
    const { logs, end } = await asFarAsBorne(node.range('transfers'), { from: next, to }, async last => {
      const params = [{ fromBlock: hex(next), toBlock: hex(last), ...filter }]
      const { results, bytes, ms } = await node.ask([{ method: 'eth_getLogs', params }])
      return { logs: (results[0] ?? []) as RawLog[], end: last, bytes, ms }
    })
    found.push(...logs)
    next = end + 1
  }
  return found
}

/** Rules for a header whose hash is compared with one that was proven. */
export const lenient = (rules: HeaderRules): HeaderRules => ({ ...rules, header: null, latestTime: () => Number.POSITIVE_INFINITY })

/** Throws where the node is of another chain, or has another block in the place of the confirmed one. */
export function demandConfirmed(rules: HeaderRules, confirmed: Confirmed, chain: unknown, block: unknown): void {
  demandChain(rules, chain)
  if (demandHeader(block, confirmed.number, rules).hash !== confirmed.hash) throw new Error('the node has another confirmed block')
}

/** By id, of what nodes show of each, that which enough of them show alike; the rest is left out. */
export async function agreedOn<Seen>(
  { nodes, quorum }: Pick<AgreementOptions, 'nodes' | 'quorum'>,
  ids: readonly string[],
  seenOn: (node: Node) => Promise<Map<string, Seen>>,
): Promise<Map<string, Seen>> {
  const agreed = (votes: readonly Map<string, Seen>[]): Map<string, Seen> =>
    new Map(
      ids.flatMap(id => {
        const texts = votes.map(vote => digest(vote.get(id)))
        const vote = votes[texts.findIndex(text => texts.filter(other => other === text).length >= quorum)]
        return vote?.has(id) ? [[id, vote.get(id) as Seen] as const] : []
      }),
    )
  const votes = await nodes.vote('state', seenOn, values => agreed(values).size === ids.length)
  return agreed(votes.map(({ value }) => value))
}

const digest = (seen: unknown): string | undefined =>
  JSON.stringify(seen, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
