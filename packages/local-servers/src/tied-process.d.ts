import type { ChildProcess, SpawnOptions } from 'node:child_process'
import type { Socket } from 'node:net'

export interface TiedOptions extends Omit<SpawnOptions, 'stdio' | 'detached'> {
  /** Sent to the program when this process ends. */
  endSignal: 'INT' | 'TERM' | 'KILL'
  /** Sent to all that the program started, too. */
  group?: boolean
}

export type TiedProcess = ChildProcess & { stdout: Socket; stderr: Socket }

/** Starts a program that cannot outlive this process. It gets no input, and Ctrl-C in a terminal reaches only this process. */
export function spawnTied(command: string, args: readonly string[], options: TiedOptions): TiedProcess

/** From now on the program does not keep this process alive. */
export function letGo(child: TiedProcess): void
