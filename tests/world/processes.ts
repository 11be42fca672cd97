import { type Environment, environments, type Place, type ServiceName, serviceNames } from '@ponte/all-in-one'
import { freePort } from '@ponte/local-servers'
import { endProcess, type Running, startProcess } from './process'

export interface Processes {
  opsUrl(name: ServiceName): string
  pid(name: ServiceName): number | undefined
  /** Logged since it was last started. */
  output(name: ServiceName): string
  start(name: ServiceName): Promise<void>
  /** Ends one process by its pid and waits until it is gone: SIGKILL as a crash, SIGTERM as an operator. */
  end(name: ServiceName, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
  stop(): Promise<void>
}

/** The five services as five operating-system processes, from the built code of this checkout or of another (`roots`), with the environment that their READMEs list. */
export async function startProcesses(
  place: Place,
  more: Partial<Record<ServiceName, Environment>> = {},
  roots: Partial<Record<ServiceName, string>> = {},
): Promise<Processes> {
  const running = new Map<ServiceName, Running>()
  const env = environments(place)
  const start = async (name: ServiceName) => {
    const one = startProcess(name, { ...env[name], OPS_PORT: String(await freePort()), ...more[name] }, roots[name])
    running.set(name, one)
    await one.ready
  }
  const end = (name: ServiceName, signal: 'SIGKILL' | 'SIGTERM') => endProcess(entryOf(running, name).child, signal)
  await Promise.all(serviceNames.map(start))
  return {
    start,
    end,
    opsUrl: name => entryOf(running, name).opsUrl,
    pid: name => entryOf(running, name).child.pid,
    output: name => entryOf(running, name).output.join(''),
    async stop() {
      await Promise.all([...running.keys()].map(name => end(name, 'SIGTERM')))
    },
  }
}

function entryOf(running: Map<ServiceName, Running>, name: ServiceName): Running {
  const entry = running.get(name)
  if (!entry) throw new Error(`${name} was not started.`)
  return entry
}
