import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSamplePayer, payerRoutes, type System, startAll } from '@ponte/all-in-one'
import { PAYER, startWorld, type World } from '../world'
import { type ShopSettings, sellOnce, startProgram } from '../world/shop'
import { environment, publish } from './verdaccio'

// `npm run runtimes`: SDK and command line published to a registry on this machine, and installed from it into empty projects by each package manager, on each
// runtime; the examples on what they are written for.

const root = join(__dirname, '../..')
const shops = join(root, 'packages/sdk/test/shops')
const PNPM = '12.21.0'
const YARN_CLASSIC = '1.22.22'
const YARN = '4.18.1'
const NODES = ['22.13.0', '24.21.0', '26.10.0']
const BUN = '1.4.5'
const DENO = '2.9.6'
const WORKERD = '1.20261117.1'
const NEXT = '16.4.6'
const REACT = '19.3.1'
const ESBUILD = '0.28.2'

let world: World
let system: System
let folder: string
let registry: Awaited<ReturnType<typeof publish>>
/** Rows of the table in the README of packages/sdk. */
const held: string[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-runtimes-'))
  registry = await publish(folder)
  world = await startWorld()
  const payer = createSamplePayer({ chain: world.chain, privateKey: PAYER.privateKey, gatewayUrl: world.place.publicUrl })
  system = await startAll(world.place, { logger: world.logger, local: payerRoutes(payer, join(root, 'packages/web/dist')) })
}, 300_000)
afterAll(async () => {
  await system?.stop()
  await world?.stop()
  await registry?.stop()
  process.stdout.write(`${held.join('\n')}\n`)
  rmSync(folder, { recursive: true, force: true })
})

/** An empty project that takes the packages from their registry. */
function project(name: string, manifest: object = {}): string {
  const here = join(folder, name)
  mkdirSync(here)
  writeFileSync(join(here, '.npmrc'), `@ponte:registry=${registry.url}\n`)
  const scopes = `npmScopes: { ponte: { npmRegistryServer: '${registry.url}' } }\nunsafeHttpWhitelist: ['127.0.0.1']\nnpmPreapprovedPackages: ['@ponte/*']`
  writeFileSync(join(here, '.yarnrc.yml'), `nodeLinker: node-modules\nenableTelemetry: false\nenableGlobalCache: false\n${scopes}\n`)
  writeFileSync(join(here, 'package.json'), JSON.stringify(manifest))
  // Yarn leaves versions out that are younger than a day, and takes a project without a lockfile for a part of what lies above it.
  writeFileSync(join(here, 'yarn.lock'), '')
  return here
}

const run = (here: string, program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: here, encoding: 'utf8', stdio: 'pipe', env: environment() }).trim()
const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'))

/** As an ES module and as CommonJS: a webhook verified, a handler, an error. */
function useIn(here: string, node: string): void {
  for (const shop of readdirSync(shops)) {
    cpSync(join(shops, shop), join(here, shop))
    expect(JSON.parse(run(here, node, shop))).toEqual(['order.expired', 200, 'raw_body_required', 'function'])
  }
  expect(run(here, node, join(here, 'node_modules/@ponte/cli/dist/main.js'), '--version')).toBe(version)
}

test('npm sees both packages, and npx runs the command line in an empty folder with an empty cache', () => {
  const here = project('npx')
  for (const name of ['@ponte/sdk', '@ponte/cli'])
    expect(JSON.parse(run(here, 'npm', 'view', name, 'license', '--json'))).toBe('Apache-2.0')
  const npx = (...args: string[]) => run(here, 'npx', '--yes', '--cache', join(here, '.cache'), '@ponte/cli', ...args)
  expect(npx('--version')).toBe(version)
  expect(npx('--help')).toContain('Usage: ponte')
  held.push(`| \`npx @ponte/cli\` | ${run(here, 'npm', '--version').split('.')[0]} | \`--version\`, \`--help\`, from an empty cache |`)
}, 300_000)

test.each([
  ['npm', '', ['npm', 'install']],
  ['pnpm', PNPM, ['npx', '--yes', `pnpm@${PNPM}`, 'add']],
  ['Yarn Classic', YARN_CLASSIC, ['npx', '--yes', `yarn@${YARN_CLASSIC}`, 'add']],
  ['Yarn', YARN, ['npx', '--yes', '--package', `@yarnpkg/cli-dist@${YARN}`, 'yarn', 'add']],
])(
  'installed by %s %s, as ESM and CJS',
  (name, pinned, [program = '', ...args]) => {
    const here = project(name.replace(' ', '-'))
    run(here, program, ...args, '@ponte/sdk', '@ponte/cli')
    useIn(here, process.execPath)
    held.push(`| ${name} | ${pinned || run(here, 'npm', '--version').split('.')[0]} | SDK and command line installed; ESM and CJS |`)
  },
  300_000,
)

test.each(NODES)(
  'on Node %s, as ESM and CJS',
  node => {
    const here = project(`node-${node}`)
    run(here, 'npm', 'install', '--no-audit', '--no-fund', '@ponte/sdk', '@ponte/cli', `node@${node}`)
    const program = join(here, 'node_modules/node/bin/node')
    expect(run(here, program, '--version')).toBe(`v${node}`)
    useIn(here, program)
    held.push(`| Node | ${node} | ESM and CJS, command line |`)
  },
  300_000,
)

/** The example in a folder of its own, beside what a merchant would install. */
function install(example: string, name: string, ...packages: string[]): string {
  const here = project(name)
  cpSync(join(root, 'examples', example), here, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  writeFileSync(join(here, 'package.json'), JSON.stringify({ ...manifest, dependencies: {} }))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '@ponte/sdk', ...packages], { cwd: here, stdio: 'pipe' })
  return here
}

const sell = (here: string, command: (settings: ShopSettings) => string[]) =>
  sellOnce(world, system.gatewayUrl, settings => startProgram(command(settings), settings, here))

test('on Bun', async () => {
  const here = install('fetch-shop', 'bun', `bun@${BUN}`)
  await sell(here, () => [join(here, 'node_modules/.bin/bun'), 'shop.js'])
  held.push(`| Bun | ${BUN} | [fetch-shop](../../examples/fetch-shop) sells |`)
}, 600_000)

test('on Deno', async () => {
  const here = install('fetch-shop', 'deno', `deno@${DENO}`)
  const serve = ['serve', '--allow-net', '--allow-env', '--host', '127.0.0.1', '--port']
  await sell(here, ({ PORT }) => [join(here, 'node_modules/.bin/deno'), ...serve, PORT, 'shop.js'])
  held.push(`| Deno | ${DENO} | [fetch-shop](../../examples/fetch-shop) sells |`)
}, 600_000)

test('on the runtime of Workers', async () => {
  const here = install('fetch-shop', 'workers', `workerd@${WORKERD}`, `esbuild@${ESBUILD}`)
  const bundle = ['shop.js', '--bundle', '--format=esm', '--conditions=worker', '--external:node:*', '--outfile=worker.js']
  execFileSync(join(here, 'node_modules/.bin/esbuild'), bundle, { cwd: here, stdio: 'pipe' })
  await sell(here, settings => {
    writeFileSync(join(here, 'worker.capnp'), workerdConfig(settings))
    return [join(here, 'node_modules/.bin/workerd'), 'serve', 'worker.capnp']
  })
  held.push(`| Workers (workerd) | ${WORKERD} | [fetch-shop](../../examples/fetch-shop) sells |`)
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
  held.push(`| Next.js | ${NEXT} | [next-shop](../../examples/next-shop) is built and sells |`)
}, 900_000)

test('the README of packages/sdk shows what was held', () => {
  const readme = readFileSync(join(root, 'packages/sdk/README.md'), 'utf8')
  expect(held.filter(row => !readme.includes(row))).toEqual([])
  expect(held).toHaveLength(12)
})
