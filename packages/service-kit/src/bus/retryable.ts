/** Throw it while handling a message and the message comes back later; anything else is retried a few times and then parked as dead. */
export class RetryableError extends Error {
  override name = 'RetryableError'
}
