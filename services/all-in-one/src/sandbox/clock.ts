import { ApiError, type TestClockBody } from '@ponte/contracts'
import type { LocalChain } from '@ponte/local-servers'
import type { Logger, Part } from '@ponte/service-kit'

export interface Movement {
  /** Has orders and plans looked at that are due; answers when the next plan is. */
  due(): Promise<Date | null>
  /** Brings deliveries that wait forward; answers in how many seconds the next one is tried. */
  hurry(seconds: number): Promise<number | null>
  idle(timeoutMs: number): Promise<void>
}

export type Clock = ReturnType<typeof createClock>

const MOST_MS = 2 * 366 * 86_400_000
/** Retries of the first minute are taken together. */
const STEP_MIN_S = 60
const IDLE_MS = 60_000
/** A chain that is further ahead than this was moved there before the last start. */
const MOVED_MS = 60_000

/** One clock for the chains and the services, which stands ahead of the machine's by so much as it was moved. */
export function createClock({ chains, logger }: { chains: readonly LocalChain[]; logger: Logger }) {
  let aheadMs = 0
  let target: Date | null = null
  let isStopping = false
  let moving: Promise<void> = Promise.resolve()
  const now = () => new Date(Date.now() + aheadMs)
  const read = (): TestClockBody => ({ object: 'test_clock', now: now().toISOString(), target: target?.toISOString() ?? null })

  /** Goes from one thing that is due to the next, so that each happens at its own time. */
  const move = async (to: Date, { due, hurry, idle }: Movement) => {
    while (now() < to && !isStopping) {
      const leftS = Math.ceil((to.getTime() - now().getTime()) / 1_000)
      const [plan, retryInS] = [await due(), await hurry(0)]
      const planInS = plan === null ? leftS : Math.ceil((plan.getTime() - now().getTime()) / 1_000)
      const seconds = Math.min(leftS, Math.max(STEP_MIN_S, Math.min(planInS, Math.ceil(retryInS ?? leftS))))
      await Promise.all(chains.map(chain => chain.increaseTime(seconds)))
      aheadMs += seconds * 1_000
      await Promise.all(chains.map(chain => chain.mine()))
      await hurry(seconds)
      await due()
      await idle(IDLE_MS)
    }
  }
  return {
    now,
    read,
    /** Takes up where the chains stood before the last stop; one that is new beside them is brought to the same time. */
    async resume(): Promise<void> {
      const heads = await Promise.all(chains.map(async chain => ({ chain, seconds: await chain.now() })))
      const furthest = Math.max(...heads.map(({ seconds }) => seconds))
      const ahead = furthest * 1_000 - Date.now()
      if (ahead < MOVED_MS) return
      aheadMs = ahead
      for (const { chain, seconds } of heads) {
        if (seconds === furthest) continue
        await chain.setNextBlockTimestamp(furthest)
        await chain.mine()
      }
    },
    /** Begins to move; resolves when it has come to rest. Throws `invalid_state`. */
    async advance(to: Date, movement: Movement): Promise<void> {
      if (target !== null) throw new ApiError('invalid_state', `The clock is moving to ${target.toISOString()}; wait until it is there.`)
      const by = to.getTime() - now().getTime()
      if (by <= 0) throw new ApiError('invalid_state', `The clock stands at ${now().toISOString()} and moves forward alone.`)
      if (by > MOST_MS) throw new ApiError('invalid_state', 'The clock moves by two years at most at once.')
      target = to
      moving = move(to, movement).finally(() => {
        target = null
      })
      // The request may have been answered by then.
      moving.catch(error => logger.error('the clock did not come to rest', { error }))
      return moving
    },
    part: {
      name: 'clock',
      async stop() {
        isStopping = true
        await moving.catch(() => undefined)
      },
    } satisfies Part,
  }
}
