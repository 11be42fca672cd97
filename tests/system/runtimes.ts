import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSamplePayer, payerRoutes, type System, startAll } from '@ponte/all-in-one'
import { PAYER, startWorld, type World } from '../world'
import { type ShopSettings, sellOnce, startProgram } from '../world/shop'

// `npm run runtimes`: the examples on what they are written for, each installed from the registry into an empty folder, with the SDK as it is published.

const root = join(__dirname, '../..')
const BUN = '1.4.5'
const DENO = '2.9.6'
const WORKERD = '1.20261117.1'
const NEXT = '16.4.6'
const REACT = '19.3.1'
const ESBUILD = '0.28.2'

let world: World
let system: System
let folder: string
let tarball: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-runtimes-'))
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: join(root, 'packages/sdk'), stdio: 'pipe' })
  tarball = join(folder, readdirSync(folder).find(name => name.endsWith('.tgz')) ?? '')
  world = await startWorld()
  const payer = createSamplePayer({ chain: world.chain, privateKey: PAYER.privateKey, gatewayUrl: world.place.publicUrl })
  system = await startAll(world.place, { logger: world.logger, local: payerRoutes(payer, join(root, 'packages/web/dist')) })
}, 300_000)
afterAll(async () => {
  await system?.stop()
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The example in a folder of its own, beside what a merchant would install. */
function install(example: string, name: string, ...packages: string[]): string {
  const here = join(folder, name)
  mkdirSync(here)
  cpSync(join(root, 'examples', example), here, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  writeFileSync(join(here, 'package.json'), JSON.stringify({ ...manifest, dependencies: {} }))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', tarball, ...packages], { cwd: here, stdio: 'pipe' })
  return here
}

const sell = (here: string, command: (settings: ShopSettings) => string[]) =>
  sellOnce(world, system.gatewayUrl, settings => startProgram(command(settings), settings, here))

test('on Bun', async () => {
  const here = install('fetch-shop', 'bun', `bun@${BUN}`)
  await sell(here, () => [join(here, 'node_modules/.bin/bun'), 'shop.js'])
}, 600_000)

test('on Deno', async () => {
  const here = install('fetch-shop', 'deno', `deno@${DENO}`)
  const serve = ['serve', '--allow-net', '--allow-env', '--host', '127.0.0.1', '--port']
  await sell(here, ({ PORT }) => [join(here, 'node_modules/.bin/deno'), ...serve, PORT, 'shop.js'])
}, 600_000)

test('on the runtime of Workers', async () => {
  const here = install('fetch-shop', 'workers', `workerd@${WORKERD}`, `esbuild@${ESBUILD}`)
  const bundle = ['shop.js', '--bundle', '--format=esm', '--conditions=worker', '--external:node:*', '--outfile=worker.js']
  execFileSync(join(here, 'node_modules/.bin/esbuild'), bundle, { cwd: here, stdio: 'pipe' })
  await sell(here, settings => {
    writeFileSync(join(here, 'worker.capnp'), workerdConfig(settings))
    return [join(here, 'node_modules/.bin/workerd'), 'serve', 'worker.capnp']
  })
}, 600_000)

const workerdConfig = ({ PORT, ...settings }: ShopSettings) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .shop),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${PORT}", http = (), service = "main")],
);
const shop :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  bindings = [${Object.entries(settings).map(([name, text]) => `(name = "${name}", text = "${text}")`)}],
);
`

test('on Next.js, built', async () => {
  const here = install('next-shop', 'next', `next@${NEXT}`, `react@${REACT}`, `react-dom@${REACT}`)
  const next = join(here, 'node_modules/.bin/next')
  execFileSync(next, ['build'], { cwd: here, stdio: 'pipe', env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' } })
  await sell(here, ({ PORT }) => [process.execPath, next, 'start', '--hostname', '127.0.0.1', '--port', PORT])
}, 900_000)
