interface Closable {
  /** Resolves when every request is answered; none is taken any more. */
  close(): Promise<void>
}

export interface RenewedPool<Pool extends Closable> {
  /** For the next request. */
  present(): Pool
  close(): Promise<void>
}

/**
 * Connections are spread over replicas when they are made, so a pool of this age is replaced by a new one, and closed when its requests are answered.
 * The pool's own `clientTtl` loses count of the connections that it removes: after a pause a request was refused, or waited for ever.
 */
export function renewedPool<Pool extends Closable>(ageMs: number, make: () => Pool): RenewedPool<Pool> {
  const closing = new Set<Promise<void>>()
  let present = make()
  let madeAt = performance.now()
  const retire = () => {
    const closed = present.close().finally(() => closing.delete(closed))
    closing.add(closed)
  }
  return {
    present() {
      if (performance.now() - madeAt > ageMs) {
        retire()
        present = make()
        madeAt = performance.now()
      }
      return present
    },
    async close() {
      retire()
      await Promise.all(closing)
    },
  }
}
