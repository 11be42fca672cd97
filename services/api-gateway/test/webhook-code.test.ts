import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { transformSync } from '@swc/core'
import { type Language, webhookCode } from '../src/docs/webhook-code'

// The receivers that /docs/webhooks shows, started as they stand.

const SECRET = 'whsec_of_the_documentation'
const plain = (text: string) => text
const asModule = (text: string) => transformSync(text, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }).code
const programs: [Language, string, (file: string, port: number) => string[], (text: string) => string][] = [
  ['TypeScript', 'webhook.mjs', file => [process.execPath, file], asModule],
  ['Python', 'webhook.py', file => ['python3', file], plain],
  ['PHP', 'webhook.php', (file, port) => ['php', '-S', `127.0.0.1:${port}`, file], plain],
  ['Go', 'webhook.go', file => ['go', 'run', file], plain],
]
const isHere = (program: string) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined

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
  expect(programs.map(([language]) => language)).toEqual(Object.keys(webhookCode))
})

describe.each(programs)('%s', (language, name, command, prepare) => {
  const [program = ''] = command('', 0)
  const when = isHere(program) ? test : test.skip

  when(
    'takes a signed body once, and refuses one whose bytes are others',
    async () => {
      const port = await freePort()
      const file = join(folder, name)
      writeFileSync(file, prepare(webhookCode[language]))
      const [, ...args] = command(file, port)
      const env = { PATH: process.env.PATH, HOME: folder, PORT: String(port), PONTE_WEBHOOK_SECRET: SECRET }
      const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
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
    },
    90_000,
  )
})
