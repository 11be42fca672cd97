import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts a process's time in ticks; elsewhere there is nothing to read. */
const TICKS_PER_S = process.platform === 'linux' ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : Number.NaN

export interface RunningProcess {
  pid: number
  parent: number
  /** Of its program, cut at 15 characters. */
  name: string
  /** Processor time so far, of itself and of its children that ended. */
  cpuMs: number
  residentMb: number
}

/** As proc_pid_stat(5) describes them; empty where there is no `/proc`. */
export function processTable(): RunningProcess[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        return [parse(Number(pid), readFileSync(`/proc/${pid}/stat`, 'utf8'), readFileSync(`/proc/${pid}/status`, 'utf8'))]
      } catch {
        // It ended while we read.
        return []
      }
    })
}

function parse(pid: number, stat: string, status: string): RunningProcess {
  // Behind the name in brackets come the fields from the third on: the parent is the fourth; user and system time the 14th to the 17th.
  const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? []
  const field = rest.split(' ').map(Number)
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + (field[index] ?? 0), 0)
  const residentKb = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0)
  return { pid, parent: field[1] ?? 0, name, cpuMs: (ticks / TICKS_PER_S) * 1_000, residentMb: residentKb / 1024 }
}
