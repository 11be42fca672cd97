import { Worker } from 'node:worker_threads'

const TICK_MS = 1_000

/** Counts what the main thread has not counted on since; in ticks of its own, so that a process that was stopped as a whole and goes on is not taken for stuck. */
const WATCH = `
const { workerData: { beats, ticksMax, tickMs, line } } = require('node:worker_threads')
const { writeSync } = require('node:fs')
let last = -1
let missed = 0
setInterval(() => {
  const beat = Atomics.load(beats, 0)
  missed = beat === last ? missed + 1 : 0
  last = beat
  if (missed < ticksMax) return
  writeSync(1, JSON.stringify({ ...line, timestamp: new Date().toISOString() }) + '\\n')
  process.kill(process.pid, 'SIGKILL')
}, tickMs)
`

/**
 * Ends the process when its event loop stands still for so long: it would hold connections and leases and answer nothing, and no timer of its own could end it. Whatever runs it starts another.
 * Answers how to end the watch.
 */
export function startWatchdog({ stuckAfterS, service }: { stuckAfterS: number; service: string }): () => void {
  if (stuckAfterS === 0) return () => undefined
  const beats = new Int32Array(new SharedArrayBuffer(4))
  const line = { level: 'error', service, message: 'the event loop stands still; the process ends', seconds: stuckAfterS }
  const worker = new Worker(WATCH, {
    eval: true,
    workerData: { beats, ticksMax: (stuckAfterS * 1_000) / TICK_MS, tickMs: TICK_MS, line },
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 },
    execArgv: [],
  })
  worker.unref()
  const beating = setInterval(() => Atomics.add(beats, 0, 1), TICK_MS / 2).unref()
  return () => {
    clearInterval(beating)
    void worker.terminate()
  }
}
