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

/**
 * Thrown for a message that a newer version may understand: an unknown type, or an unknown value where the reader must know all of them. It is handed
 * back for a while, so that a rolling deployment loses nothing, and parked when no version has understood it by then.
 */
export class UnknownMessageError extends Error {
  override name = 'UnknownMessageError'
}
