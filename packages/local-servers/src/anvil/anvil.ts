import type { ChildProcess } from 'node:child_process'
import { letGo, spawnTied } from '../tied-process'
import { findAnvil } from './binary'
import { keepCopies, restoreCopy } from './state-copy'

export interface AnvilOptions {
  /** A free one by default. */
  port?: number
  /** 31337 by default. */
  chainId?: number
  /**
   * The chain is kept in this file across restarts, written whole every `stateIntervalS` and when anvil stops (1.7 kB for each
   * empty block); nothing is kept by default. A second file with `.copy` behind its name outlives a kill in the middle of a write.
   */
  stateFile?: string
  /** 1 by default. */
  stateIntervalS?: number
  /** Mine a block every so many seconds. By default a block is mined for each transaction. */
  blockTimeS?: number
  /** With `blockTimeS`: mine a block for each transaction too. */
  mixedMining?: boolean
  /** Mine nothing until `mine` is called. */
  noMining?: boolean
  /** The `safe` block is this many behind the head, `finalized` twice as many; 32 by default. */
  slotsInAnEpoch?: number
  /** Any other flags of anvil. */
  extraArgs?: readonly string[]
  /** The executable, when it does not come from the npm package. */
  binary?: string
  /** Longest wait for its first answer; 20,000 by default. */
  startTimeoutMs?: number
}

export interface Anvil {
  rpcUrl: string
  wsUrl: string
  port: number
  chainId: number
  pid: number
  /** Resolves with the exit code (null after a signal) when anvil ends, asked or not. */
  exited: Promise<number | null>
  /** Lets anvil save its state and end; kills it when it does not. May be called again. */
  stop(): Promise<void>
}

/** Thrown by `startAnvil` when something else listens on the wanted port. */
export class PortTakenError extends Error {
  constructor(readonly port: number) {
    super(`port ${port} is taken: choose another one for anvil, or stop what listens there`)
    this.name = 'PortTakenError'
  }
}

const HOST = '127.0.0.1'
const STOP_MS = 10_000

function argumentsFor(options: AnvilOptions, chainId: number): string[] {
  const args = ['--host', HOST, '--port', String(options.port ?? 0), '--chain-id', String(chainId)]
  if (options.stateFile !== undefined) args.push('--state', options.stateFile, '--state-interval', String(options.stateIntervalS ?? 1))
  if (options.blockTimeS !== undefined) args.push('--block-time', String(options.blockTimeS))
  if (options.mixedMining === true) args.push('--mixed-mining')
  if (options.noMining === true) args.push('--no-mining')
  if (options.slotsInAnEpoch !== undefined) args.push('--slots-in-an-epoch', String(options.slotsInAnEpoch))
  return [...args, ...(options.extraArgs ?? [])]
}

/** Reads what anvil prints until it names the port it listens on; then only drains it. */
function listening(child: ChildProcess, wanted: number | undefined, timeoutMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const timer = setTimeout(() => settle(new Error(`anvil did not start within ${timeoutMs} ms: ${printed}`)), timeoutMs)
    const settle = (outcome: number | Error): void => {
      clearTimeout(timer)
      for (const stream of [child.stdout, child.stderr]) {
        stream?.removeListener('data', read)
        stream?.resume()
      }
      child.removeListener('error', settle)
      child.removeListener('close', ended)
      if (typeof outcome === 'number') resolve(outcome)
      else reject(outcome)
    }
    const ended = (code: number | null): void => {
      const taken = wanted !== undefined && /address already in use/i.test(printed)
      settle(taken ? new PortTakenError(wanted) : new Error(`anvil ended with code ${code} while starting: ${printed.trim()}`))
    }
    const read = (chunk: Buffer): void => {
      printed += chunk.toString()
      const port = /Listening on [^\s]*:(\d+)/.exec(printed)?.[1]
      if (port !== undefined) settle(Number(port))
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.on('error', settle)
    child.on('close', ended)
  })
}

async function end(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await exited
  clearTimeout(timer)
}

/**
 * Starts anvil, a local EVM chain, on the loopback interface and resolves once it answers. It ends with `stop()`, and at the
 * latest when this process ends, however that happens; it does not keep this process alive.
 * Rejects with PortTakenError, or with what anvil printed when it would not start.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const chainId = options.chainId ?? 31_337
  if (options.stateFile !== undefined) await restoreCopy(options.stateFile)
  const child = spawnTied(options.binary ?? findAnvil(), argumentsFor(options, chainId), { endSignal: 'TERM' })
  const exited = new Promise<number | null>(resolve => {
    child.once('exit', resolve)
  })
  try {
    const port = await listening(child, options.port, options.startTimeoutMs ?? 20_000)
    const { pid } = child
    if (pid === undefined) throw new Error('anvil has no process id')
    letGo(child)
    if (options.stateFile !== undefined) {
      const ended = new AbortController()
      void exited.then(() => ended.abort())
      void keepCopies(options.stateFile, ended.signal)
    }
    return {
      rpcUrl: `http://${HOST}:${port}`,
      wsUrl: `ws://${HOST}:${port}`,
      port,
      chainId,
      pid,
      exited,
      stop: () => end(child, exited),
    }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}
