import { copyFile, open, readFile, rename, rm } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

// End of anvil's state when it has been written whole.
const ENDING = '"historical_states":null}'

async function isComplete(file: string): Promise<boolean> {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    const { buffer } = await handle.read(Buffer.alloc(ENDING.length), 0, ENDING.length, Math.max(0, size - ENDING.length))
    return buffer.toString('latin1') === ENDING
  } finally {
    await handle.close()
  }
}

async function isJson(file: string): Promise<boolean> {
  try {
    JSON.parse(await readFile(file, 'utf8'))
    return true
  } catch {
    return false
  }
}

async function copy(stateFile: string): Promise<void> {
  const draft = `${stateFile}.draft`
  await copyFile(stateFile, draft)
  if (await isComplete(draft)) await rename(draft, `${stateFile}.copy`)
  else await rm(draft)
}

/** Puts the last copy in the place of a state file that anvil was killed while writing. */
export async function restoreCopy(stateFile: string): Promise<void> {
  if (await isJson(stateFile)) return
  if (!(await isJson(`${stateFile}.copy`))) return
  // A file put in place by name cannot be spoilt by an old anvil that is still writing to the torn one.
  await copyFile(`${stateFile}.copy`, `${stateFile}.draft`)
  await rename(`${stateFile}.draft`, stateFile)
}

/** Copies the state file every few seconds until the signal: anvil empties it before each write, and a kill may come in between. */
export async function keepCopies(stateFile: string, signal: AbortSignal, everyMs = 5_000): Promise<void> {
  while (!signal.aborted) {
    // The signal ends the wait by an error. A copy that fails, as while there is no file yet, is made at the next turn.
    await setTimeout(everyMs, undefined, { ref: false, signal }).catch(() => undefined)
    if (!signal.aborted) await copy(stateFile).catch(() => undefined)
  }
}
