import type { EventData } from '@ponte/contracts'
import { type Database, every, type Logger } from '@ponte/service-kit'
import { createChecksums } from '../logs/checksums'
import { refundStore } from '../refunds/store'
import type { Leader } from '../store/leader'
import { LeaseLostError } from '../store/lease'
import { createObservation, type ObservationOptions } from './observation'
import { type Observed, recoveryStore, type Watched } from './store'

export interface RecoveriesOptions extends ObservationOptions {
  database: Database
  chainId: number
  leader: Leader
  /** Something is in the outbox. */
  published(): void
  now: () => Date
  logger: Logger
}

const LOOK_MS = 5_000
const AT_ONCE = 100

/** Foreign tokens on their way from deposit addresses: the leader looks at every confirmed block what became of those that were submitted or asked about. */
export function createRecoveries(options: RecoveriesOptions) {
  const { database, chainId, leader, logger, now } = options
  const store = recoveryStore(database, chainId)
  const { confirmed: lastConfirmed } = refundStore(database, chainId)
  const observe = createObservation(options)
  const checksum = createChecksums()
  let looked: string | undefined

  const look = async (): Promise<void> => {
    const epoch = leader.epoch()
    const { isAny, isAsked } = epoch === undefined ? { isAny: false, isAsked: false } : await store.due()
    const confirmed = isAny ? await lastConfirmed() : undefined
    if (epoch === undefined || !confirmed) return
    const place = `${confirmed.generation} ${confirmed.hash}`
    if (looked === place && !isAsked) return
    let isWhole = true
    for (let after: string | null = null; ; ) {
      const watched: Watched[] = await store.open(after, AT_ONCE)
      const observed = watched.length === 0 ? [] : await observe(confirmed, watched)
      if (observed.length < watched.length) {
        isWhole = false
        logger.warn('too few nodes agree on what became of recoveries; they stay as they are', {
          recoveries: watched.length - observed.length,
        })
      }
      const news = observed.filter(isNews)
      if (news.length > 0) {
        await store.publish(epoch, confirmed.generation, news, checksum, now())
        options.published()
      }
      after = watched.at(-1)?.recoveryId ?? null
      if (watched.length < AT_ONCE) break
    }
    looked = isWhole ? place : undefined
  }
  const loop = every(
    'recoveries',
    LOOK_MS,
    () =>
      look().catch(error => {
        if (!(error instanceof LeaseLostError)) throw error
      }),
    logger,
  )
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
