import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import type { Socket } from 'node:net'

// A shell waits beside the program for a pipe that only we hold open, and signals the program when it closes: that happens however we end,
// SIGKILL included. `exec` makes the program's pid the child's, and the double fork keeps the waiting shell out of its family.
const tie = '( (read _ <&3; kill -s "$0" $$) >/dev/null 2>&1 & ); exec "$@" 3<&-'

/** Starts a program that cannot outlive this process and does not keep it alive. Ctrl-C in a terminal reaches only us: we stop it in our own order. */
export function spawnTied(
  command: string,
  args: string[],
  { endSignal, ...options }: Omit<SpawnOptions, 'stdio' | 'detached'> & { endSignal: 'INT' | 'TERM' | 'KILL' },
): ChildProcess & { stdout: Socket; stderr: Socket } {
  const child = spawn('/bin/sh', ['-c', tie, endSignal, command, ...args], {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  }) as ChildProcess & { stdout: Socket; stderr: Socket }
  const pipe = child.stdio[3] as Socket
  child.once('exit', () => pipe.destroy())
  for (const handle of [child, child.stdout, child.stderr, pipe]) handle.unref()
  return child
}
