import { spawn } from 'node:child_process'

// The same knot as packages/local-servers/src/tied-process.ts, which cannot be used before it is built: a shell waits for a pipe that only we
// hold open and, however we end, then kills the program with all that it started.
const tie = '( (read _ <&3; kill -s KILL -- "-$$") >/dev/null 2>&1 & ); exec "$@" 3<&-'

/** Starts a program that cannot outlive this process. Its output is piped; it gets no input. */
export function spawnTied(command, args, options = {}) {
  const child = spawn('/bin/sh', ['-c', tie, 'sh', command, ...args], {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  child.once('exit', () => child.stdio[3].destroy())
  return child
}
