import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'

const program = join(__dirname, '../dist/main.js')
const PORTS = ['PONTE_PORT', 'PONTE_AUTH_PORT', 'PONTE_RECEIVER_PORT', 'PONTE_CHAIN_PORT', 'PONTE_PG_PORT']

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-fresh-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('`npm start` on an empty folder logs no error until it is ready', async () => {
  const ports: Record<string, string> = {}
  for (const name of PORTS) ports[name] = String(await freePort())
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PONTE_STATE_DIR: folder, LOG_LEVEL: 'info', ...ports }
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  const output: string[] = []
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', line => void output.push(line))
  const isReady = () => existsSync(join(folder, 'embedded.json'))
  await until(
    () => isReady() || child.exitCode !== null,
    () => `it is not ready: ${output.slice(-5).join('\n')}`,
    180_000,
  )
  const logged = output.filter(line => line.startsWith('{')).map(line => JSON.parse(line))
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  // What the services log is read here.
  expect(logged.map(({ level }) => level)).toContain('info')
  expect(logged.filter(({ level }) => level === 'error')).toEqual([])
}, 240_000)
