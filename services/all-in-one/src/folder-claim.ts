import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * One embedded system per folder. Throws when another one runs on it; the claim of a process that was killed does not count.
 * Answers the function that gives the folder up.
 */
export function claimFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const file = join(folder, 'pid')
  const owner = ownerOf(file)
  if (owner !== null)
    throw new Error(`Ponte already runs on ${folder} (process ${owner}). Stop it first, or set PONTE_STATE_DIR and other ports.`)
  writeFileSync(file, `${process.pid}\n`)
  return () => {
    if (ownerOf(file) === null) rmSync(file, { force: true })
  }
}

/** The live process, other than this one, that claims the folder. */
function ownerOf(file: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
    if (pid === process.pid) return null
    process.kill(pid, 0)
    // A pid is given out again: it counts only while it is a program of ours.
    return process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('all-in-one') ? pid : null
  } catch {
    return null
  }
}
