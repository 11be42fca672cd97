/**
 * Thrown while a message is handled, it brings the message back later; anything else is retried a few times and then parked as dead. A client is
 * answered with 503.
 */
export class RetryableError extends Error {
  override name = 'RetryableError'
}

/** Thrown about a message that no later try can read. */
export class PoisonError extends Error {
  override name = 'PoisonError'
}
