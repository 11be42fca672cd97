import { isRecovered, RECOVERED_TOPIC } from '../logs/recovered'
import { type AgreementOptions, agreedOn, demandConfirmed, lenient, logsBetween } from '../outcomes/agreement'
import { blockCall, chainCall, demandHeader, strictly } from '../proof/header'
import type { Node } from '../rpc/node'
import type { RawLog } from '../rpc/raw-log'
import type { Confirmed } from '../store/confirmed'
import type { Observed, RecoveryEnd, Watched } from './store'

export type ObservationOptions = AgreementOptions

/** The ends that enough nodes show up to a confirmed block, by the routers' own logs. Those of which too few show the same are left out. */
export function createObservation(options: ObservationOptions) {
  const loose = lenient(options.rules)

  const logsOf = (node: Node, watched: readonly Watched[], to: number) => {
    const address = [...new Set(watched.map(({ router }) => router))]
    const topics = [RECOVERED_TOPIC, [...new Set(watched.map(({ memo }) => `0x${memo}`))]]
    const from = Math.min(...watched.map(({ ended, watchFrom }) => ended?.blockNumber ?? watchFrom))
    return logsBetween(node, from, to, { address, topics })
  }
  const timeIn = async (node: Node, { blockNumber, blockHash }: RawLog): Promise<number> => {
    const number = Number(blockNumber)
    const header = demandHeader((await node.ask([blockCall(number)])).results[0], number, loose)
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
      demandConfirmed(loose, confirmed, results[0], results[1])
      return seen
    })
  return async (confirmed: Confirmed, watched: readonly Watched[]): Promise<Observed[]> => {
    const ids = watched.map(({ recoveryId }) => recoveryId)
    const found = await agreedOn(options, ids, node => seenOn(node, confirmed, watched))
    return watched.flatMap(each => {
      const ended = found.get(each.recoveryId)
      if (ended === undefined) return []
      return [{ watched: each, ended, isFinal: ended !== null && confirmed.number - ended.blockNumber >= options.window }]
    })
  }
}
