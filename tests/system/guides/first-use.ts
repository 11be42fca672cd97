import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSamplePayer, payerRoutes, type System, startWithSandbox } from '@ponte/all-in-one'
import { freePort, requireProgram } from '@ponte/local-servers'
import { signTestWebhook } from '@ponte/sdk'
import { until } from '@ponte/service-kit'
import { createMerchant, PAYER, startWorld, type World } from '../../world'
import { type Block, blocksOf, guides, writePrograms } from './blocks'
import { startRegistry } from './registry'

// The quickstart as a newcomer follows it, from its own blocks in an empty folder, to a verified webhook; then every other command of the guides.

const WAIT_MS = 120_000
const GOAL_S = 300

let world: World
let system: System
let registry: Awaited<ReturnType<typeof startRegistry>>
let folder: string
let blocks: Block[]
let interpreters: Record<string, string>
const typed = new Set<string>()
const children: ChildProcess[] = []
beforeAll(async () => {
  const why = 'the test of first use'
  interpreters = {
    ts: process.execPath,
    py: await requireProgram('python3', 'python3', why),
    php: await requireProgram('php', 'php-cli', why),
  }
  await requireProgram('curl', 'curl', why)
  world = await startWorld()
  const payer = createSamplePayer({ chain: world.chain, privateKey: PAYER.privateKey, gatewayUrl: world.place.publicUrl })
  const local = payerRoutes(payer, join(__dirname, '../../../packages/web/dist'))
  system = await startWithSandbox(world.place, { ...{ chain: world.chain, payer, local }, logger: world.logger })
  folder = mkdtempSync(join(tmpdir(), 'ponte-first-use-'))
  registry = await startRegistry(folder)
  blocks = (await Promise.all(guides.map(page => blocksOf(system.gatewayUrl, page)))).flat()
}, 300_000)
afterAll(async () => {
  for (const child of children) end(child)
  await registry?.stop()
  await system?.stop()
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Ends its process group: npx starts programs of its own. */
function end({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid ?? 0), 'SIGKILL')
  } catch {
    // It has ended.
  }
}

interface Desk {
  here: string
  env: Record<string, string | undefined>
}

/** An empty folder of a newcomer, for whom the packages are published. A cache of its own: npx goes on with what it once installed of a version. */
function newDesk(name: string): Desk {
  const here = join(folder, name)
  mkdirSync(here)
  writeFileSync(join(here, '.npmrc'), `@ponte:registry=${registry.url}\n`)
  const npm = { npm_config_yes: 'true', npm_config_audit: 'false', npm_config_cache: join(folder, '.npm') }
  return { here, env: { ...ofMachine(), ...npm, PONTE_CONFIG_DIR: join(here, '.config') } }
}

/** The way to npm's registry (a proxy, a certificate) belongs to the machine; what an npm that runs these tests sets for its own programs does not. */
function ofMachine() {
  const isOurs = /^(npm_(?!config_registry$)|PONTE_|INIT_CWD$|NODE_(ENV|OPTIONS|PATH)$|JEST)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs.test(name)))
}

function start({ here, env }: Desk, program: string, args: string[]) {
  const child = spawn(program, args, { cwd: here, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  const found = { output: '', all: '', child }
  child.stdout.on('data', chunk => {
    found.output += chunk
    found.all += chunk
  })
  child.stderr.on('data', chunk => (found.all += chunk))
  return found
}

async function outputOf(desk: Desk, program: string, args: string[]): Promise<string> {
  const found = start(desk, program, args)
  const [code] = await once(found.child, 'close', { signal: AbortSignal.timeout(WAIT_MS) })
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${found.all}`)
  return found.output.trim()
}

/** Types a command of a guide into the shell. */
function typeIn(desk: Desk, { text }: Block): Promise<string> {
  typed.add(text)
  return outputOf(desk, 'bash', ['-c', text])
}

const commands = (page: string): Block[] => blocks.filter(block => block.page === page && block.kind === 'shell')
const commandOf = (page: string, beginning: string): Block => {
  const found = commands(page).find(({ text }) => text.startsWith(beginning))
  if (!found) throw new Error(`/docs/${page} shows no command that begins with ${beginning}`)
  return found
}

/** `export` lines for everything that the shell starts later. */
function exportIn(desk: Desk, { text }: Block, apiKey: string): void {
  typed.add(text)
  for (const [, name = '', value = ''] of text.replace('sk_live_…', apiKey).matchAll(/^export (\w+)=(.*)$/gm)) desk.env[name] = value
}

test.each(['ts', 'py', 'php'])(
  'from an empty folder to a verified webhook, with .%s',
  async language => {
    const merchant = await createMerchant(world, system.gatewayUrl, null)
    const desk = newDesk(language)
    const began = performance.now()
    const times: Record<string, string> = {}
    const mark = (step: string) => {
      times[step] = `${((performance.now() - began) / 1_000).toFixed(1)} s`
    }
    exportIn(desk, commandOf('quickstart', 'export'), merchant.api_key)
    expect(desk.env).toMatchObject({ PONTE_URL: system.gatewayUrl, PONTE_API_KEY: merchant.api_key })
    await typeIn(desk, commandOf('quickstart', 'npm install'))
    mark('installed')

    writePrograms(desk.here, blocks, 'quickstart')
    const program = interpreters[language] ?? ''
    const link = await outputOf(desk, program, [`order.${language}`])
    expect(JSON.parse(await typeIn(desk, commandOf('quickstart', 'curl'))).payment.checkout_url).toBe(link)
    mark('an order')

    const port = String(await freePort())
    const listen = commandOf('quickstart', 'npx @ponte/cli listen')
    typed.add(listen.text)
    const listening = start(desk, 'bash', ['-c', listen.text.replace(':3000', `:${port}`)])
    const secret = () => /whsec_\w+/.exec(listening.all)?.[0]
    await until(
      () => secret() !== undefined,
      () => `no secret is printed: ${listening.all}`,
      WAIT_MS,
    )
    desk.env = { ...desk.env, PORT: port, PONTE_WEBHOOK_SECRET: secret(), CHECKOUT_URL: link }
    const file = `webhook.${language}`
    const receiver = start(desk, program, language === 'php' ? ['-S', `127.0.0.1:${port}`, file] : [file])
    mark('a receiver')
    await typeIn(desk, commandOf('quickstart', 'npx @ponte/cli pay'))
    mark('paid')
    const id = link.split('/').at(-1)
    await until(
      () => receiver.all.includes(`order.paid ${id}`),
      () => `no verified webhook: ${receiver.all} ${listening.all}`,
      WAIT_MS,
    )
    mark('a verified webhook')
    for (const child of [listening.child, receiver.child]) end(child)
    console.log(`First use with .${language} (the goal is ${GOAL_S} s):`, times)
  },
  300_000,
)

test('every other command of the guides does what it should', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl, null)
  const desk = newDesk('commands')
  exportIn(desk, commandOf('quickstart', 'export'), merchant.api_key)
  // Without an installation before it: npx brings the command line.
  expect(await typeIn(desk, commandOf('testing', 'npx @ponte/cli status'))).toContain(system.gatewayUrl)
  for (const command of [...commands('testing'), ...commands('production')].filter(({ text }) => text.includes(' trigger '))) {
    const kind = command.text.split(' ').at(-1) ?? ''
    expect(await typeIn(desk, command)).toMatch(new RegExp(`^event +\\d+ +${kind.replace('.', '\\.')} `))
  }
  const { body, headers } = await signTestWebhook({ type: 'order.expired', data: { id: '1', external_ref: null } }, 'whsec_1')
  writeFileSync(join(desk.here, 'body.json'), body)
  desk.env = { ...desk.env, PONTE_WEBHOOK_SECRET: 'whsec_1', SIGNATURE: headers['X-Service-Signature'] }
  await typeIn(desk, commandOf('webhooks', 'npx @ponte/cli verify'))
  writeFileSync(join(desk.here, 'body.json'), `${readFileSync(join(desk.here, 'body.json'), 'utf8')}\n`)
  await expect(typeIn(desk, commandOf('webhooks', 'npx @ponte/cli verify'))).rejects.toThrow('ended with 1')
}, 300_000)

test('the lines for a page of a shop name the script that is served, and where links are paid', async () => {
  const [script, link] = blocks.filter(({ kind }) => kind === 'html').map(({ text }) => text)
  const url = /src="([^"]+)"/.exec(script ?? '')?.[1] ?? ''
  const served = await fetch(url)
  expect([served.status, served.headers.get('content-type')]).toEqual([200, expect.stringContaining('javascript')])
  const [named, linked] = [/data-link="([^"]+)"/.exec(script ?? '')?.[1], /href="([^"]+)"/.exec(link ?? '')?.[1]]
  expect([named, new URL(named ?? '').pathname]).toEqual([linked, expect.stringMatching(/^\/pay\/link\/[\w-]{36}$/)])
})

test('no command of the guides was left out', () => {
  const shown = guides.flatMap(commands).map(({ text }) => text)
  expect([...typed].sort()).toEqual([...new Set(shown)].sort())
})
