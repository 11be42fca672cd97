export type Started = <T extends { stop(): Promise<unknown> }>(one: T) => T

/** Runs a drill; what it has `started` is stopped in reverse, however it ends. */
export function drill(work: (started: Started) => Promise<void>): void {
  const stops: (() => Promise<unknown>)[] = []
  const run = async () => {
    try {
      await work(one => {
        stops.push(one.stop)
        return one
      })
    } finally {
      for (let stop = stops.pop(); stop; stop = stops.pop()) await stop()
    }
  }
  run().catch(error => {
    console.error(error)
    process.exit(1)
  })
}
