/**
 * A service is a list of parts: started in order, stopped in reverse. Each may say whether it still has work in hand,
 * so that tests and a stopping process wait for facts instead of sleeping.
 */
export interface Part {
  name: string
  start?(): Promise<void>
  stop?(): Promise<void>
  /** True while there is work that this part will do by itself without new input. */
  busy?(): Promise<boolean> | boolean
  /** Throws, or answers false, when the part cannot serve now; readiness tells the operator its name. */
  ready?(): Promise<boolean> | boolean
}

export interface Service extends Required<Omit<Part, 'ready'>> {
  parts: readonly Part[]
  /** Resolves when no part is busy; rejects after `timeoutMs`, naming the parts that still are. */
  idle(timeoutMs?: number): Promise<void>
}

export function service(name: string, parts: readonly Part[]): Service {
  const started: Part[] = []
  const busyParts = async () => {
    const flags = await Promise.all(parts.map(async part => ((await part.busy?.()) ? part.name : undefined)))
    return flags.filter(flag => flag !== undefined)
  }
  const stop = async () => {
    for (let part = started.pop(); part; part = started.pop()) await part.stop?.()
  }
  return {
    name,
    parts,
    stop,
    async start() {
      try {
        for (const part of parts) {
          started.push(part)
          await part.start?.()
        }
      } catch (error) {
        await stop()
        throw error
      }
    },
    busy: async () => (await busyParts()).length > 0,
    idle: (timeoutMs = 20_000) =>
      until(
        async () => !(await busyParts()).length,
        async () => `${name} is still busy: ${(await busyParts()).join(', ')}`,
        timeoutMs,
      ),
  }
}

/** Waits for a condition by asking again every few milliseconds. Rejects with what `describe` says after `timeoutMs`. */
export async function until(
  condition: () => Promise<boolean> | boolean,
  describe: string | (() => Promise<string> | string),
  timeoutMs = 20_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (let waitMs = 2; !(await condition()); waitMs = Math.min(waitMs * 1.5, 50)) {
    if (Date.now() > deadline) throw new Error(typeof describe === 'string' ? describe : await describe())
    await new Promise(resolve => setTimeout(resolve, waitMs))
  }
}
