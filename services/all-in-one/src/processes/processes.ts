import { freePort } from '@ponte/local-servers'
import {
  type Environment,
  environments,
  otherListeners,
  type Place,
  type ProcessName,
  processNames,
  type ServiceName,
  withOwnRelayer,
} from '../places'
import { endProcess, mainOf, type Running, startProgram } from './program'

/** Longer than a service may take to stop. */
const STOP_MS = 30_000

/** One service as an operating-system process, from its built code. */
export interface Replica extends Running {
  name: ProcessName
  /** Replicas of listeners of further networks are numbered on, network by network. */
  index: number
  port: number
  opsPort: number
  url: string
}

export interface ProcessesOptions {
  /** Replicas; one of each service unless given, and no relayer of its own. */
  counts?: Partial<Record<ProcessName, number>>
  /** The built checkout whose code a service runs, when it is not this one. */
  roots?: Partial<Record<ProcessName, string>>
  /** Where the gateway finds the owners, in place of the addresses of all their replicas. */
  ownerUrls?: Place['ownerUrls']
  /** Settings that follow from the place; a developer's unless given. */
  settingsOf?: (place: Place) => Record<ServiceName, Environment>
  /** Changed for the listener of each network beside the first. */
  otherSettings?: readonly Environment[]
  nodeArgs?: readonly string[]
  hasChannel?: boolean
  /** One that ends by itself is started again after so long. */
  restartMs?: number
  onOutput?: (replica: Pick<Replica, 'name' | 'index'>, text: string) => void
  onReady?: (replica: Replica) => void
  /** One ended by itself. */
  onEnd?: (replica: Replica) => void
}

export interface Processes {
  replicas(): readonly Replica[]
  replica(name: ProcessName, index?: number): Replica
  opsUrl(name: ProcessName, index?: number): string
  pid(name: ProcessName, index?: number): number | undefined
  /** Logged since it was last started. */
  output(name: ProcessName, index?: number): string
  /** Starts it again on its ports of before, with these settings changed; resolves when it is ready. */
  start(name: ProcessName, index?: number, settings?: Environment): Promise<void>
  /** Ends one process by its pid and waits until it is gone: SIGKILL as a crash, SIGTERM as an operator. */
  end(name: ProcessName, signal: 'SIGKILL' | 'SIGTERM', index?: number): Promise<number | null>
  stop(): Promise<void>
}

/** The five services, and a listener of each further network, as operating-system processes, each in as many replicas as are wanted, with the environment that their READMEs list. */
export async function startProcesses(
  place: Place,
  settings: Partial<Record<ProcessName, Environment>> = {},
  options: ProcessesOptions = {},
): Promise<Processes> {
  const { counts = {}, roots = {}, settingsOf = environments, otherSettings = [], nodeArgs = [], hasChannel = false, restartMs } = options
  const others = otherListeners(place).map((env, at) => ({ ...env, ...otherSettings[at] }))
  const places: { name: ProcessName; index: number; port: number; opsPort: number; other?: Environment | undefined }[] = []
  const ports: Partial<Record<ProcessName, number>> = place.ports
  for (const name of processNames) {
    const count = counts[name] ?? (name === 'relayer' ? 0 : 1)
    const networks = name === 'chain-listener' ? [undefined, ...others] : [undefined]
    for (const [at, other] of networks.entries())
      for (let index = at * count; index < (at + 1) * count; index++) {
        const port = (index === 0 && ports[name]) || (await freePort())
        places.push({ name, index, port, opsPort: await freePort(), other })
      }
  }
  const urlsOf = (name: ProcessName) =>
    places
      .filter(one => one.name === name && !one.other)
      .map(({ port }) => `http://127.0.0.1:${port}`)
      .join()
  const ownerUrls = options.ownerUrls ?? {
    orders: urlsOf('orders'),
    subscriptions: urlsOf('subscriptions'),
    webhooks: urlsOf('webhook-dispatcher'),
    chainListener: urlsOf(counts.relayer ? 'relayer' : 'chain-listener'),
  }
  const shared = settingsOf({ ...place, ownerUrls })
  const env: Partial<Record<ProcessName, Environment>> = counts.relayer ? withOwnRelayer(shared) : shared
  const running = new Map<string, Replica & (typeof places)[number]>()
  const changes = new Map<string, Environment>()
  /** Ended on purpose. */
  const away = new Set<string>()
  const waiting = new Set<NodeJS.Timeout>()

  const launch = (one: (typeof places)[number]) => {
    const { name, index, port, opsPort } = one
    const key = `${name} ${index}`
    const started = startProgram(key, [process.execPath, ...nodeArgs, mainOf(name, roots[name])], {
      env: {
        ...(one.other ?? { ...env[name], ...settings[name] }),
        ...changes.get(key),
        PORT: String(port),
        OPS_PORT: String(opsPort),
      },
      hasChannel,
      onOutput: text => options.onOutput?.(one, text),
    })
    const replica = { ...one, ...started, url: `http://127.0.0.1:${port}` }
    running.set(key, replica)
    away.delete(key)
    started.child.once('exit', () => {
      if (away.has(key)) return
      options.onEnd?.(replica)
      if (restartMs === undefined) return
      const timer = setTimeout(() => {
        waiting.delete(timer)
        if (!away.has(key)) launch(one).catch(() => undefined)
      }, restartMs)
      waiting.add(timer)
    })
    return started.ready.then(() => options.onReady?.(replica))
  }
  const replica = (name: ProcessName, index = 0) => {
    const found = running.get(`${name} ${index}`)
    if (!found) throw new Error(`There is no replica ${index} of ${name}.`)
    return found
  }
  const end = (name: ProcessName, signal: 'SIGKILL' | 'SIGTERM', index = 0) => {
    away.add(`${name} ${index}`)
    return endProcess(replica(name, index).child, signal)
  }
  const stop = async () => {
    for (const timer of waiting) clearTimeout(timer)
    await Promise.all(
      [...running.values()].map(async ({ name, index, child }) => {
        // One that stands still would not see the signal.
        child.kill('SIGCONT')
        const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
        await end(name, 'SIGTERM', index)
        clearTimeout(late)
      }),
    )
  }
  try {
    // One replica of each after the other: all at once would start slowly on a crowded machine.
    for (let index = 0; places.some(one => one.index === index); index++)
      await Promise.all(places.filter(one => one.index === index).map(launch))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    replicas: () => [...running.values()],
    replica,
    opsUrl: (name, index) => replica(name, index).opsUrl,
    pid: (name, index) => replica(name, index).child.pid,
    output: (name, index) => replica(name, index).output.join(''),
    async start(name, index = 0, changed) {
      const key = `${name} ${index}`
      if (changed) changes.set(key, { ...changes.get(key), ...changed })
      await launch(replica(name, index))
    },
    end,
    stop,
  }
}
