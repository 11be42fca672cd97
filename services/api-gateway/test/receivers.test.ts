import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, requireProgram } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { transformSync } from '@swc/core'
import { receivers as texts } from '../src/docs/guide/programs/receivers'

// The receivers that /docs/webhooks shows, started as they stand.

type Language = keyof typeof texts
const SECRET = 'whsec_of_the_documentation'
interface Receiver {
  language: Language
  file: string
  program: string
  debianPackage: string
  prepare?(text: string): string
  /** The program and its arguments; what is compiled is compiled first, so that one process is to be ended. */
  command(program: string, file: string, port: number): string[]
}
const receivers: Receiver[] = [
  {
    ...{ language: 'TypeScript', file: 'webhook.mjs', program: process.execPath, debianPackage: 'nodejs' },
    prepare: text => transformSync(text, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }).code,
    command: (program, file) => [program, file],
  },
  {
    ...{ language: 'Python', file: 'webhook.py', program: 'python3', debianPackage: 'python3' },
    command: (program, file) => [program, file],
  },
  {
    ...{ language: 'PHP', file: 'webhook.php', program: 'php', debianPackage: 'php-cli' },
    command: (program, file, port) => [program, '-S', `127.0.0.1:${port}`, file],
  },
  {
    ...{ language: 'Go', file: 'webhook.go', program: 'go', debianPackage: 'golang-go' },
    command(program, file) {
      execFileSync(program, ['build', '-o', `${file}.out`, file], { env: { PATH: process.env.PATH, HOME: folder }, stdio: 'pipe' })
      return [`${file}.out`]
    },
  },
]

let folder: string
const children: ChildProcess[] = []
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-webhook-code-'))
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

test('there is a receiver for each language', () => {
  expect(receivers.map(({ language }) => language)).toEqual(Object.keys(texts))
})

describe.each(receivers)('$language', ({ language, file: name, program, debianPackage, prepare, command }) => {
  test('takes a signed body once, and refuses one whose bytes are others', async () => {
    const port = await freePort()
    const file = join(folder, name)
    writeFileSync(file, prepare?.(texts[language]) ?? texts[language])
    const found = await requireProgram(program, debianPackage, 'the test of what /docs/webhooks shows')
    const [executable = '', ...args] = command(found, file, port)
    const env = { PATH: process.env.PATH, HOME: folder, PORT: String(port), PONTE_WEBHOOK_SECRET: SECRET }
    const child = spawn(executable, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))

    const body = JSON.stringify({ type: 'order.expired', data: { id: 'order-1', external_ref: 'ação' } })
    const post = async (text: string, signature = createHmac('sha256', SECRET).update(body).digest('hex')) => {
      const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': signature }
      return (await fetch(`http://127.0.0.1:${port}/webhooks`, { method: 'POST', body: text, headers })).status
    }
    await until(
      () => post(body, '00').then(Boolean, () => false),
      () => `it does not listen: ${output}`,
      60_000,
    )
    expect([await post(body), await post(body)]).toEqual([200, 200])
    expect([await post(`${body} `), await post(body, ''), await post(body, 'ff'.repeat(32))]).toEqual([401, 401, 401])
    await until(
      () => output.includes('order.expired order-1'),
      () => `it does not report the event: ${output}`,
    )
    if (language !== 'PHP') expect(output.match(/order\.expired order-1/g)).toHaveLength(1)
    child.kill('SIGKILL')
    await once(child, 'close')
  }, 300_000)
})
