import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports of outgoing connections, and a block for each process: a port found free is bound only seconds later.
const FIRST = 20_000
const BLOCK = 100
const BLOCKS = 120
const block = FIRST + (process.pid % BLOCKS) * BLOCK
/** Of databases and brokers: a webhook to one is refused. */
const NAMED = [25_672, 26_379, 27_017, 27_018, 27_019]
let next = Math.floor(Math.random() * BLOCK)

/** A port of the loopback interface on which nothing listens; no other call answers it soon. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < BLOCK; tried++) {
    const port = block + (next++ % BLOCK)
    if (!NAMED.includes(port) && (await isFree(port))) return port
  }
  throw new Error(`No port is free from ${block} to ${block + BLOCK - 1}.`)
}

export async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch {
    return false
  }
  probe.close()
  await once(probe, 'close')
  return true
}
