import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Stops a process of ours for so long, and lets it go on even if this process ends meanwhile. Resolves when it has stopped. */
export async function pauseProcess(pid: number, seconds: number): Promise<void> {
  const pausing = spawn(
    '/bin/sh',
    ['-c', 'kill -s STOP "$0" && echo stopped && sleep "$1"; kill -s CONT "$0"', String(pid), String(seconds)],
    {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  pausing.unref()
  await Promise.race([once(pausing.stdout, 'data'), once(pausing, 'exit')])
  pausing.stdout.destroy()
}
