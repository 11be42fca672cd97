import { type Database, every, type Logger } from '@ponte/service-kit'
import { createChecksums } from '../logs/checksums'
import { type Confirmed, lastConfirmed } from '../store/confirmed'
import type { Leader } from '../store/leader'
import { LeaseLostError } from '../store/lease'

export interface OutcomeOptions {
  database: Database
  chainId: number
  leader: Leader
  published(): void
  now: () => Date
  logger: Logger
}

/** Transactions of others that orders has asked about, of one kind. */
export interface Outcomes<Watched, Observed> {
  name: string
  due(): Promise<{ isAny: boolean; isAsked: boolean }>
  /** All that have not ended for good, after the one with this id. */
  open(after: string | null, limit: number): Promise<Watched[]>
  idOf(watched: Watched): string
  /** All of which enough nodes show the same. */
  observe(confirmed: Confirmed, watched: readonly Watched[]): Promise<Observed[]>
  isNews(observed: Observed, confirmed: Confirmed): boolean
  publish(epoch: bigint, confirmed: Confirmed, news: readonly Observed[], checksum: (address: string) => string, at: Date): Promise<void>
}

const LOOK_MS = 5_000
export const AT_ONCE = 100

/** The leader looks at every confirmed block what became of them, and informs orders of what is new. */
export function watchOutcomes<Watched, Observed>(of: Outcomes<Watched, Observed>, options: OutcomeOptions) {
  const { database, chainId, leader, logger, now } = options
  const checksum = createChecksums()
  let looked: string | undefined

  const look = async (): Promise<void> => {
    const epoch = leader.epoch()
    const { isAny, isAsked } = epoch === undefined ? { isAny: false, isAsked: false } : await of.due()
    const confirmed = isAny ? await lastConfirmed(database, chainId) : undefined
    if (epoch === undefined || !confirmed) return
    const place = `${confirmed.generation} ${confirmed.hash}`
    if (looked === place && !isAsked) return
    let isWhole = true
    for (let after: string | null = null; ; ) {
      const watched: Watched[] = await of.open(after, AT_ONCE)
      const observed = watched.length === 0 ? [] : await of.observe(confirmed, watched)
      if (observed.length < watched.length) {
        isWhole = false
        logger.warn(`too few nodes agree on what became of ${of.name}; they stay as they are`, {
          [of.name]: watched.length - observed.length,
        })
      }
      const news = observed.filter(each => of.isNews(each, confirmed))
      if (news.length > 0) {
        await of.publish(epoch, confirmed, news, checksum, now())
        options.published()
      }
      const last = watched.at(-1)
      after = last === undefined ? null : of.idOf(last)
      if (watched.length < AT_ONCE) break
    }
    looked = isWhole ? place : undefined
  }
  return every(
    of.name,
    LOOK_MS,
    () =>
      look().catch(error => {
        if (!(error instanceof LeaseLostError)) throw error
      }),
    logger,
  )
}
