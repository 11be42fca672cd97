import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { until } from '@ponte/service-kit'
import { type Environment, environments, type Place, type ServiceName, serviceNames } from '../src'
import { freePort } from './system'

interface Running {
  child: ChildProcess
  opsUrl: string
  output: string[]
}

export interface Processes {
  opsUrl(name: ServiceName): string
  start(name: ServiceName): Promise<void>
  /** Ends one process by its pid and waits until it is gone: SIGKILL as a crash, SIGTERM as an operator. */
  end(name: ServiceName, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
  stop(): Promise<void>
}

/** The five services as five operating-system processes, from their built code, with the environment that their READMEs list. */
export async function startProcesses(place: Place, more: Partial<Record<ServiceName, Environment>> = {}): Promise<Processes> {
  const running = new Map<ServiceName, Running>()
  const env = environments(place)
  const start = async (name: ServiceName) => {
    const opsPort = await freePort()
    const main = join(__dirname, '../..', name, 'dist/main.js')
    const settings = { ...env[name], OPS_PORT: String(opsPort), ...more[name] }
    const child = spawn(process.execPath, [main], { env: { PATH: process.env.PATH, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] })
    const output: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(String(chunk)))
    const entry = { child, opsUrl: `http://127.0.0.1:${opsPort}`, output }
    running.set(name, entry)
    await until(
      async () => {
        if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}:\n${output.join('')}`)
        return isReady(entry.opsUrl)
      },
      () => `${name} did not become ready:\n${output.join('')}`,
      30_000,
    )
  }
  const end = async (name: ServiceName, signal: 'SIGKILL' | 'SIGTERM') => {
    const { child } = entryOf(running, name)
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
    return child.exitCode
  }
  await Promise.all(serviceNames.map(start))
  return {
    start,
    end,
    opsUrl: name => entryOf(running, name).opsUrl,
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

async function isReady(opsUrl: string): Promise<boolean> {
  try {
    return (await fetch(`${opsUrl}/readyz`)).ok
  } catch {
    return false
  }
}
