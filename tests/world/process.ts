import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Environment, ServiceName } from '@ponte/all-in-one'
import { until } from '@ponte/service-kit'

/** A crowded machine starts five processes at once slowly. */
const READY_WAIT_MS = 120_000
/** Pieces of output that are kept, the newest: a long run fills no memory. */
const OUTPUT_MAX = 20_000

/** One service as an operating-system process, from its built code. */
export interface Running {
  child: ChildProcess
  opsUrl: string
  /** Its newest output, grown while it runs. */
  output: string[]
}

/** Of this checkout, or of another. */
export const mainOf = (name: ServiceName, root = join(__dirname, '../..')) => join(root, 'services', name, 'dist/main.js')

/** Starts the service from its built code. */
export const startProcess = (name: ServiceName, settings: Environment & { OPS_PORT: string }, root?: string) =>
  startProgram(name, [process.execPath, mainOf(name, root)], { env: { PATH: process.env.PATH ?? '', ...settings } })

/** Starts a program; `ready` resolves when it is, and rejects with its output when it ended before. */
export function startProgram(
  name: string,
  [command = '', ...args]: readonly string[],
  { cwd, env }: { cwd?: string; env: Environment & { OPS_PORT: string } },
): Running & { ready: Promise<void> } {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output.push(String(chunk))
      if (output.length > OUTPUT_MAX) output.splice(0, OUTPUT_MAX / 2)
    })
  const opsUrl = `http://127.0.0.1:${env.OPS_PORT}`
  const ready = until(
    async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}:\n${output.join('')}`)
      return isReady(opsUrl)
    },
    () => `${name} did not become ready:\n${output.join('')}`,
    READY_WAIT_MS,
  )
  return { child, opsUrl, output, ready }
}

/** Ends a process and waits until it is gone: SIGKILL as a crash, SIGTERM as an operator. Answers its exit code. */
export async function endProcess(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  return child.exitCode
}

/** One that is stopped in the middle takes the connection and answers nothing. */
export const isReady = (opsUrl: string): Promise<boolean> =>
  fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    answer => answer.ok,
    () => false,
  )
