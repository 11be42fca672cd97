import { setTimeout as pause } from 'node:timers/promises'
import { RetryableError } from '../retryable'
import { isStale } from './errors'

const TRIES_MAX = 20
const PAUSE_MAX_MS = 1_000

/**
 * Finds, decides and commits again while another commit was first, twenty times at most: then the caller gets a RetryableError, which is a 503
 * to a client and another delivery to a message.
 */
export async function retryConflicts<T>(work: () => Promise<T>, isConflict: (error: unknown) => boolean = isStale): Promise<T> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const startedAt = performance.now()
    try {
      return await work()
    } catch (error) {
      if (!isConflict(error)) throw error
      // Of many at once one is first in each round; apart by more than such a work takes, most are.
      await pause(Math.random() * Math.min(PAUSE_MAX_MS, tries * (performance.now() - startedAt)))
    }
  }
  throw new RetryableError(`What was to be changed was changed ${TRIES_MAX} times meanwhile.`)
}
