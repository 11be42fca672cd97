import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Waits until no other process holds the lock of this folder, and takes it. The lock is a listening socket, which the kernel closes with its
 * process: it cannot go stale, and a process that waits on a connection to it learns of its end at once.
 */
export async function lockFolder(folder) {
  const name = `ponte-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`
  // Linux has socket names that are not files.
  const isFile = process.platform !== 'linux'
  const address = isFile ? join(tmpdir(), `${name}.sock`) : `\0${name}`
  for (let announced = false; ; announced = true) {
    const unlock = await listen(address)
    if (unlock) return unlock
    if (!announced) console.error('  Another process is setting up this folder; waiting for it …')
    const refused = await untilClosed(address)
    if (refused && isFile) rmSync(address, { force: true })
  }
}

async function listen(address) {
  const waiting = new Set()
  const server = createServer(socket => {
    waiting.add(socket.on('error', () => undefined))
    socket.unref()
  })
  try {
    await once(server.listen(address), 'listening')
  } catch (error) {
    if (error.code === 'EADDRINUSE') return undefined
    throw error
  }
  server.unref()
  return () => {
    server.close()
    for (const socket of waiting) socket.destroy()
  }
}

async function untilClosed(address) {
  let refused = false
  const socket = connect(address).on('error', error => {
    refused = error.code === 'ECONNREFUSED'
  })
  await new Promise(resolve => socket.once('close', resolve))
  return refused
}
