import type { EventData } from '@ponte/contracts'
import { type Database, every, type Logger } from '@ponte/service-kit'
import { createChecksums } from '../logs/checksums'
import type { Leader } from '../store/leader'
import { LeaseLostError } from '../store/lease'
import { createObservation, type ObservationOptions } from './observation'
import type { RefundComparison } from './routes'
import { type Observed, refundStore, type Watched } from './store'

export { refundRoutes } from './routes'

export interface RefundsOptions extends ObservationOptions {
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

/** Returns of money: the leader looks at every confirmed block what became of the nonces that orders asks about. */
export function createRefunds(options: RefundsOptions) {
  const { database, chainId, leader, logger, now } = options
  const store = refundStore(database, chainId)
  const observe = createObservation(options)
  const checksum = createChecksums()
  let looked: string | undefined

  const look = async (): Promise<void> => {
    const epoch = leader.epoch()
    const { isAny, isAsked } = epoch === undefined ? { isAny: false, isAsked: false } : await store.due()
    const confirmed = isAny ? await store.confirmed() : undefined
    if (epoch === undefined || !confirmed) return
    const place = `${confirmed.generation} ${confirmed.hash}`
    if (looked === place && !isAsked) return
    let isWhole = true
    for (let after: string | null = null; ; ) {
      const watched: Watched[] = await store.open(after, AT_ONCE)
      const observed = watched.length === 0 ? [] : await observe(confirmed, watched)
      if (observed.length < watched.length) {
        isWhole = false
        logger.warn('too few nodes agree on what became of refunds; they stay as they are', { refunds: watched.length - observed.length })
      }
      const news = observed.filter(each => isNews(each, confirmed.time))
      if (news.length > 0) {
        await store.publish(epoch, confirmed, news, checksum, now())
        options.published()
      }
      after = watched.at(-1)?.refundId ?? null
      if (watched.length < AT_ONCE) break
    }
    looked = isWhole ? place : undefined
  }
  const loop = every(
    'refunds',
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
    /** Watched ones after this one, also those that are looked at no more: where the rows are not what enough nodes have at the confirmed block. */
    async compare(after: string | null): Promise<RefundComparison> {
      const confirmed = await store.confirmed()
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
function isNews({ watched, ended, balance, isFinal }: Observed, time: number): boolean {
  const { asked, validBefore, publishedTime, publishedBalance, units } = watched
  if (asked || isFinal || JSON.stringify(ended) !== JSON.stringify(watched.ended)) return true
  if (validBefore === null || ended !== null) return false
  if (time >= validBefore) return publishedTime === null || publishedTime < validBefore
  return publishedBalance === null || (balance !== null && balance < units !== publishedBalance < units)
}
