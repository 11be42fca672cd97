import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@ponte/local-servers'

const program = join(__dirname, '../dist/development.js')
const ADDRESS = `0x${'1'.repeat(40)}`
const STOPPED = 143
const RETRIES = 'not answered yet'

let folder: string
let silent: Server
let refused: string
let unanswered: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-aids-'))
  refused = `http://127.0.0.1:${await freePort()}`
  const port = await freePort()
  silent = createServer().listen(port, '127.0.0.1')
  await once(silent, 'listening')
  unanswered = `http://127.0.0.1:${port}`
})
afterAll(() => {
  silent.close()
  rmSync(folder, { recursive: true })
})

const contracts = (url: string) => ({
  ...{ RPC_URL: url, CHAIN_ID: '31337', TOKEN_ADDRESS: ADDRESS, ROUTER_ADDRESS: ADDRESS, PLATFORM_FEE_BPS: '100' },
})
const aids = (url: string) => ({
  ...{ HOST: '127.0.0.1', AUTH_PORT: '0', RECEIVER_PORT: '0', STATE_FOLDER: folder, PUBLIC_CLIENT_KEY: 'public-1' },
  ...{ JWT_ISSUER: 'http://issuer/auth/v1', JWT_AUDIENCE: 'authenticated', GATEWAY_URL: url, RECEIVER_URL: 'http://127.0.0.1:1' },
})

/** Starts it, sends SIGTERM once it has logged this, or this has happened, and answers how it ended. */
async function stopped(work: string, env: Record<string, string>, due: string | Promise<unknown>) {
  const child = spawn(process.execPath, [program, work], { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let output = ''
  const logged = new Promise<void>(resolve => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        output += chunk
        if (typeof due === 'string' && output.includes(due)) resolve()
      })
  })
  await Promise.race([typeof due === 'string' ? logged : due, ended])
  child.kill('SIGTERM')
  const [code, signal] = await ended
  return { code, signal }
}

describe.each([
  ['contracts', contracts],
  ['aids', aids],
])('the development aid `%s` at SIGTERM', (work, env) => {
  test('while it asks again and again, ends', async () => {
    expect(await stopped(work, env(refused), RETRIES)).toEqual({ code: STOPPED, signal: null })
  })

  test('while an answer is outstanding, ends', async () => {
    const asked = once(silent, 'connection')
    expect(await stopped(work, env(unanswered), asked)).toEqual({ code: STOPPED, signal: null })
  })
})
