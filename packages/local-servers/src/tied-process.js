const { spawn } = require('node:child_process')

// Plain JavaScript, because the set-up runs its steps by it before anything is compiled.

// A shell waits beside the program for a pipe that only this process holds open, and signals the program when it closes: that happens however
// this process ends, SIGKILL included. `exec` makes the program's pid the child's; the double fork keeps the waiting shell out of its family.
const TIE = '( (read _ <&3; kill -s "$0" -- "$1$$") >/dev/null 2>&1 & ); shift; exec "$@" 3<&-'

function spawnTied(command, args, { endSignal, group = false, ...options }) {
  const child = spawn('/bin/sh', ['-c', TIE, endSignal, group ? '-' : '', command, ...args], {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  child.once('exit', () => child.stdio[3].destroy())
  return child
}

function letGo(child) {
  for (const handle of [child, child.stdout, child.stderr, child.stdio[3]]) handle.unref()
}

module.exports = { letGo, spawnTied }
