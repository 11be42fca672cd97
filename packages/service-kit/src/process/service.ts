import type { Metrics } from '../observe/metrics'

/**
 * A service is a list of parts: started in order, stopped in reverse. Each may report whether it still has work in hand,
 * so that tests and a stopping process wait for facts instead of sleeping.
 */
export interface Part {
  name: string
  start?(): Promise<void>
  stop?(): Promise<void>
  /** Sends callers elsewhere and is no longer ready, but still serves: what comes before a stop. */
  retire?(): void
  /** True while there is work that this part will do by itself without new input. */
  busy?(): Promise<boolean> | boolean
  /** Throws, or answers false, when the part cannot serve now; readiness names it. */
  ready?(): Promise<boolean> | boolean
  /** Adds the part's own metrics to its service's; the ops server asks every part once, when it starts. */
  observe?(metrics: Metrics): void
}

export interface Service extends Required<Omit<Part, 'ready' | 'observe'>> {
  parts: readonly Part[]
  /** The parts that have work in hand, a part of a part as `outer/inner`. */
  busyParts(): Promise<string[]>
  /** Resolves when no part is busy; rejects after `timeoutMs`, naming the parts that still are. */
  idle(timeoutMs?: number): Promise<void>
}

const busyWithin = async (part: Part & Partial<Service>): Promise<string[]> => {
  if (part.busyParts) return (await part.busyParts()).map(inner => `${part.name}/${inner}`)
  return (await part.busy?.()) ? [part.name] : []
}

export function service(name: string, parts: readonly Part[]): Service {
  const started: Part[] = []
  let starting: Promise<void> | undefined
  let stopping = false
  const busyParts = async () => (await Promise.all(parts.map(busyWithin))).flat()
  // A part that cannot stop must not keep the others from stopping.
  const unwind = async () => {
    const failures: unknown[] = []
    for (let part = started.pop(); part; part = started.pop()) {
      await Promise.resolve(part.stop?.()).catch(error => failures.push(error))
    }
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures, `${name} did not stop cleanly.`)
  }
  const startParts = async () => {
    try {
      for (const part of parts) {
        if (stopping) return
        started.push(part)
        await part.start?.()
      }
    } catch (error) {
      await unwind()
      throw error
    }
  }
  return {
    name,
    parts,
    start() {
      stopping = false
      starting = startParts()
      return starting
    },
    retire() {
      for (const part of started) part.retire?.()
    },
    async stop() {
      stopping = true
      // The part that is starting now is waited for, or its stop would come before its start; the caller of start gets its failure.
      await starting?.catch(() => undefined)
      await unwind()
    },
    busyParts,
    busy: async () => (await busyParts()).length > 0,
    // Work can pass from a part that was asked late to one that was asked early: only twice idle is idle.
    idle: timeoutMs =>
      until(
        async () => (await busyParts()).length === 0 && (await busyParts()).length === 0,
        async () => `${name} is still busy: ${(await busyParts()).join(', ')}`,
        timeoutMs,
      ),
  }
}

/** Only a failure waits so long. What takes seconds on an idle machine took over twenty beside other work on both cores. */
const PATIENCE_MS = 60_000

/** Waits for a condition by asking again every few milliseconds. Rejects with the message of `describe` after `timeoutMs`. */
export async function until(
  condition: () => Promise<boolean> | boolean,
  describe: string | (() => Promise<string> | string),
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (let waitMs = 2; !(await condition()); waitMs = Math.min(waitMs * 1.5, 50)) {
    if (Date.now() > deadline) throw new Error(typeof describe === 'string' ? describe : await describe())
    await new Promise(resolve => setTimeout(resolve, waitMs))
  }
}
