/** Transactions of one account follow one another. */
export function inLine() {
  let line: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = line.then(work)
    line = next.catch(() => undefined)
    return next
  }
}
