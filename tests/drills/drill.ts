export type Started = <T extends { stop(): Promise<unknown> }>(one: T) => T

/** Runs a drill; what it has `started` is stopped in reverse, however it ends. */
export function drill(work: (started: Started) => Promise<void>): void {
  withStarted(work).catch(error => {
    console.error(error)
    process.exit(1)
  })
}

/** A part of a drill, after which nothing of it runs any more. */
export async function withStarted<T>(work: (started: Started) => Promise<T>): Promise<T> {
  const stops: (() => Promise<unknown>)[] = []
  try {
    return await work(one => {
      stops.push(one.stop)
      return one
    })
  } finally {
    for (let stop = stops.pop(); stop; stop = stops.pop()) await stop()
  }
}
