const { spawn } = require('node:child_process')

// Plain JavaScript, because the set-up runs its steps by it before anything is compiled.

// A shell waits beside the program for a pipe that only this process holds open, and signals the program when it closes: that happens however
// this process ends, SIGKILL included. A line in it ends the wait without a signal. `exec` makes the program's pid the child's; the double fork
// keeps the waiting shell out of its family.
const TIE = '( (read _ <&3 || kill -s "$0" -- "$1$$") >/dev/null 2>&1 & ); shift; exec "$@" 3<&-'

function spawnTied(command, args, { endSignal, group = false, ...options }) {
  const child = spawn('/bin/sh', ['-c', TIE, endSignal, group ? '-' : '', command, ...args], {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const tie = child.stdio[3]
  tie.on('error', () => undefined)
  // A pid that is free again may be another program's by now; what a group left behind still holds its number.
  child.once('exit', () => (group ? tie.destroy() : tie.end('\n', () => tie.destroy())))
  return child
}

function letGo(child) {
  for (const handle of [child, child.stdout, child.stderr, child.stdio[3]]) handle.unref()
}

module.exports = { letGo, spawnTied }
