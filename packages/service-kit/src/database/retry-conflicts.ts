import { RetryableError } from '../retryable'
import { isStale } from './errors'

const TRIES_MAX = 20

/**
 * Finds, decides and commits again while another commit was first, twenty times at most: then the caller gets a RetryableError, which is a 503
 * to a client and another delivery to a message.
 */
export async function retryConflicts<T>(work: () => Promise<T>, isConflict: (error: unknown) => boolean = isStale): Promise<T> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isConflict(error)) throw error
    }
  }
  throw new RetryableError(`What was to be changed was changed ${TRIES_MAX} times meanwhile.`)
}
