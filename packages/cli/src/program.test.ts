import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createProgram } from './program'

const SECRET = 'whsec_0123456789abcdef'
const BODY = '{"id":1}'
const SIGNATURE = createHmac('sha256', SECRET).update(BODY).digest('hex')

/** A command as a person runs it, and what it printed. */
async function run(
  args: readonly string[],
  env: Record<string, string> = {},
  askSecret = (): Promise<string> => Promise.reject(new Error('asked')),
) {
  const home = mkdtempSync(join(tmpdir(), 'ponte-'))
  const body = join(home, 'body.json')
  writeFileSync(body, BODY)
  const printed: string[] = []
  const sink = { write: (text: string) => printed.push(text), isTTY: false } as unknown as NodeJS.WriteStream
  const signal = AbortSignal.abort()
  const context = {
    env: { PONTE_CONFIG_DIR: home, ...env },
    home,
    cwd: home,
    stdout: sink,
    stderr: sink,
    askSecret,
    signal,
    onLine: () => undefined,
  }
  await createProgram(context).parseAsync(['node', 'ponte', ...args.map(arg => (arg === 'BODY' ? body : arg))])
  return { printed: printed.join(''), profiles: () => readFileSync(join(home, 'profiles.json'), 'utf8') }
}

/** A Ponte that answers everything with the same body. */
async function withPonte<T>(answer: object, work: (url: string, asked: IncomingMessage[]) => Promise<T>): Promise<T> {
  const asked: IncomingMessage[] = []
  const server = createServer((req, res) => {
    asked.push(req)
    req.resume().on('end', () => res.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer)))
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
const KEY = 'sk_live_0123456789abcdef'
const verify = ['verify', '--body', 'BODY', '--signature', SIGNATURE]

test('verify takes the secret from the environment, or asks for it, so that no list of processes shows it', async () => {
  expect((await run(verify, { PONTE_WEBHOOK_SECRET: SECRET })).printed).toContain('The signature fits.')
  expect((await run(verify, {}, () => Promise.resolve(SECRET))).printed).toContain('The signature fits.')
  expect((await run([...verify, '--secret', SECRET], { PONTE_WEBHOOK_SECRET: 'whsec_other' })).printed).toContain('The signature fits.')
})

test.each([
  ['the environment', { PONTE_WEBHOOK_SECRET: SECRET }, []],
  ['an argument', {}, ['--secret', SECRET]],
])('listen keeps and shows neither the API key nor a secret from %s', (_, env: Record<string, string>, args) =>
  withPonte({ object: 'list', data: [], has_more: false, next_after: null }, async url => {
    const given = { PONTE_API_KEY: KEY, PONTE_URL: url, ...env }
    const { printed, profiles } = await run(['listen', '--forward-to', '127.0.0.1:9/', '--from', '3', ...args], given)
    expect(printed).toContain('Forwarding to http://127.0.0.1:9/')
    for (const text of [printed, profiles()]) {
      expect(text).not.toContain(SECRET)
      expect(text).not.toContain(KEY)
    }
    expect(profiles()).toContain('"http://127.0.0.1:9/": 3')
  }),
)

test('a reference with a space or an accent is one key however often the command runs, and one of ASCII is its own', () =>
  withPonte({ id: 'o', brl_amount: '1.00', usdc_amount: '1', payment: { checkout_url: '' } }, async (url, asked) => {
    for (const ref of ['PEDIDO 7', 'PEDIDO 7', 'PEDIDO 8', 'pão', 'INV-7'])
      await run(['orders', 'create', '1.00', '--ref', ref], { PONTE_API_KEY: KEY, PONTE_URL: url })
    const keys = asked.map(({ headers }) => headers['idempotency-key'])
    expect(keys[1]).toBe(keys[0])
    expect(new Set(keys).size).toBe(4)
    expect(keys.every(key => /^[\x21-\x7e]{1,255}$/.test(String(key)))).toBe(true)
    expect(keys.at(-1)).toBe('INV-7')
  }))
