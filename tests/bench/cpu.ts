import { processTable, type RunningProcess } from '@ponte/service-kit/testing'

/** The servers are started by whichever process started this benchmark; they are known by the name of their program. */
const SERVERS = { PostgreSQL: 'postgres', RabbitMQ: 'beam.smp' }

export interface Usage {
  cpuMs: number
  memoryMb: number
}

/** CPU time so far and resident memory of each named process, and of PostgreSQL and RabbitMQ with all that they started. */
export function usage(pids: Readonly<Record<string, number | undefined>>): Record<string, Usage> {
  const all = processTable()
  const below = (pid: number | undefined): RunningProcess[] =>
    all.filter(({ parent }) => parent === pid).flatMap(child => [child, ...below(child.pid)])
  const total = (of: readonly RunningProcess[]): Usage => ({
    cpuMs: of.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    memoryMb: of.reduce((sum, { residentMb }) => sum + residentMb, 0),
  })
  const started = below(process.ppid)
  return Object.fromEntries([
    ...Object.entries(pids).map(([name, pid]) => [name, total(all.filter(process => process.pid === pid))]),
    ...Object.entries(SERVERS).map(([name, program]) => [name, total(started.filter(process => process.name === program))]),
  ])
}

/** Milliseconds of CPU for one unit of work, by name, where `before` and `after` were taken around `units` of it. */
export const cpuPerUnit = (before: Record<string, Usage>, after: Record<string, Usage>, units: number): Record<string, number> =>
  Object.fromEntries(Object.entries(after).map(([name, { cpuMs }]) => [name, (cpuMs - (before[name]?.cpuMs ?? 0)) / units]))
