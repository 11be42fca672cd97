import type { EventData } from '@ponte/contracts'
import { type OutcomeOptions, watchOutcomes } from '../outcomes'
import { createObservation, type ObservationOptions } from './observation'
import { type Observed, recoveryStore } from './store'

/** Foreign tokens on their way from deposit addresses: what became of those that were submitted or asked about. */
export function createRecoveries(options: ObservationOptions & OutcomeOptions) {
  const { database, chainId, now } = options
  const store = recoveryStore(database, chainId)
  const observe = createObservation(options)
  const loop = watchOutcomes({ ...store, name: 'recoveries', idOf: ({ recoveryId }) => recoveryId, observe, isNews }, options)
  return {
    part: loop,
    wake: loop.wake,
    async watch(data: EventData<'recovery.watch'>, eventId: string): Promise<void> {
      if (data.chain_id !== chainId) return
      await store.add(data, eventId, now())
      loop.wake()
    },
  }
}

const isNews = ({ watched, ended, isFinal }: Observed): boolean => watched.asked || isFinal || keyOf(ended) !== keyOf(watched.ended)
const keyOf = (end: Observed['ended']) => end && `${end.txHash} ${end.blockNumber} ${end.units} ${end.blockTime}`
