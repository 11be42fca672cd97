import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { spawnTied } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import type { Environment, ProcessName } from '../places'

/** A crowded machine starts five processes at once slowly. */
const READY_WAIT_MS = 120_000
/** Pieces of output that are kept, the newest: a long run fills no memory. */
export const OUTPUT_MAX = 20_000

/** One program as an operating-system process. */
export interface Running {
  child: ChildProcess
  opsUrl: string
  /** Its newest output, grown while it runs. */
  output: string[]
}

export interface ProgramOptions {
  cwd?: string
  env: Environment & { OPS_PORT: string }
  /** Messages can be sent to it. */
  hasChannel?: boolean
  onOutput?: (text: string) => void
}

/** Of this checkout, or of another. */
export const mainOf = (name: ProcessName, root = join(__dirname, '../../../..')) =>
  join(root, 'services', name === 'relayer' ? 'chain-listener/dist/relayer.js' : `${name}/dist/main.js`)

/** Starts a program; `ready` resolves when it is, and rejects with its output when it ended before. */
export function startProgram(
  name: string,
  [command = '', ...args]: readonly string[],
  { cwd, env, hasChannel = false, onOutput }: ProgramOptions,
): Running & { ready: Promise<void> } {
  const child: ChildProcess = hasChannel
    ? spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    : spawnTied(command, [...args], { cwd, env, endSignal: 'TERM' })
  const output: string[] = []
  const note = (text: string) => {
    output.push(text)
    if (output.length > OUTPUT_MAX) output.splice(0, OUTPUT_MAX / 2)
    onOutput?.(text)
  }
  // A message to one that dies at this moment.
  child.on('error', error => note(String(error)))
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => note(String(chunk)))
  const opsUrl = `http://127.0.0.1:${env.OPS_PORT}`
  const ready = until(
    async () => {
      if (hasEnded(child)) throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode}:\n${output.join('')}`)
      return isReady(opsUrl)
    },
    () => `${name} did not become ready:\n${output.join('')}`,
    READY_WAIT_MS,
  )
  return { child, opsUrl, output, ready }
}

export const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** Ends a process and waits until it is gone: SIGKILL as a crash, SIGTERM as an operator. Answers its exit code. */
export async function endProcess(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  if (!hasEnded(child)) {
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
