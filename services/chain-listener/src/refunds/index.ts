import type { EventData } from '@ponte/contracts'
import { AT_ONCE, type OutcomeOptions, watchOutcomes } from '../outcomes'
import { type Confirmed, lastConfirmed } from '../store/confirmed'
import { createObservation, type ObservationOptions } from './observation'
import type { RefundComparison } from './routes'
import { type Observed, refundStore } from './store'

export { refundRoutes } from './routes'

/** Returns of money: what became of the nonces that orders asks about. */
export function createRefunds(options: ObservationOptions & OutcomeOptions) {
  const { database, chainId, now } = options
  const store = refundStore(database, chainId)
  const observe = createObservation(options)
  const loop = watchOutcomes({ ...store, name: 'refunds', idOf: ({ refundId }) => refundId, observe, isNews }, options)
  return {
    part: loop,
    wake: loop.wake,
    /** Watched ones after this one, also those that are looked at no more: where the rows are not what enough nodes have at the confirmed block. */
    async compare(after: string | null): Promise<RefundComparison> {
      const confirmed = await lastConfirmed(database, chainId)
      const watched = confirmed ? await store.page(after, AT_ONCE) : []
      const observed = confirmed && watched.length > 0 ? await observe(confirmed, watched) : []
      const next = watched.length < AT_ONCE ? null : (watched.at(-1)?.refundId ?? null)
      const seen = new Map(observed.map(each => [each.watched.refundId, each.ended]))
      const differences = watched.flatMap(({ refundId, ended }) => {
        const found = seen.get(refundId)
        if (found === undefined) return [{ refund_id: refundId, detail: 'too few nodes agree on what became of it' }]
        const [here, there] = [JSON.stringify(ended), JSON.stringify(found)]
        return here === there ? [] : [{ refund_id: refundId, detail: `the listener has ${here}, and the chain ${there}` }]
      })
      return { next, differences }
    },
    async watch(data: EventData<'refund.watch'>, eventId: string): Promise<void> {
      if (data.chain_id !== chainId) return
      await store.add(data, eventId, now())
      loop.wake()
    },
  }
}

/** Orders decides by an end, by the time at which what was signed is void, and by whether the wallet can pay. */
function isNews({ watched, ended, balance, isFinal }: Observed, { time }: Confirmed): boolean {
  const { asked, validBefore, publishedTime, publishedBalance, units } = watched
  if (asked || isFinal || JSON.stringify(ended) !== JSON.stringify(watched.ended)) return true
  if (validBefore === null || ended !== null) return false
  if (time >= validBefore) return publishedTime === null || publishedTime < validBefore
  return publishedBalance === null || (balance !== null && balance < units !== publishedBalance < units)
}
