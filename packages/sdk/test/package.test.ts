import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'

const root = join(__dirname, '../../..')
const sdk = join(__dirname, '..')

let folder: string
let tarball: string
let commandLine: string
/** The published package, as a merchant's package manager unpacks it. */
let installed: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-sdk-'))
  // By npm, which takes a manifest as it stands: what only pnpm understands in one would break the package.
  for (const each of [sdk, join(root, 'packages/cli')])
    execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: each, stdio: 'pipe' })
  const packed = (name: string) => join(folder, readdirSync(folder).find(each => each.startsWith(`ponte-${name}-`)) ?? '')
  tarball = packed('sdk')
  commandLine = packed('cli')
  writeFileSync(join(folder, 'package.json'), '{}')
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: folder, stdio: 'pipe' })
  installed = join(folder, 'node_modules/@ponte/sdk')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(['shop.mjs', 'shop.cjs'])('installed in an empty project it works as %s', shop => {
  copyFileSync(join(__dirname, 'shops', shop), join(folder, shop))
  // Node 18 has no global WebCrypto: without it the module's is taken.
  for (const before of ['', 'delete globalThis.crypto;']) {
    writeFileSync(join(folder, 'before.cjs'), before)
    const output = execFileSync(process.execPath, ['--require', './before.cjs', shop], { cwd: folder, encoding: 'utf8' })
    expect(JSON.parse(output)).toEqual(['order.expired', 200, 'raw_body_required', 'function'])
  }
})

test('it installs nothing else, and brings no source or test', () => {
  expect(readdirSync(join(folder, 'node_modules')).filter(name => !name.startsWith('.'))).toEqual(['@ponte'])
  expect(readdirSync(installed).sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'lib', 'package.json'])
  expect(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')).dependencies).toBeUndefined()
})

test('the command line installs beside it outside the repository, and runs', () => {
  const project = join(folder, 'command-line')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{}')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', tarball, commandLine], { cwd: project, stdio: 'pipe' })
  const ponte = (...args: string[]) => execFileSync(join(project, 'node_modules/.bin/ponte'), args, { cwd: project, encoding: 'utf8' })
  expect(ponte('--help')).toContain('Usage: ponte')
  writeFileSync(join(project, 'body.json'), '{}')
  const signature = createHmac('sha256', 's').update('{}').digest('hex')
  expect(ponte('verify', '--body', 'body.json', '--signature', signature, '--secret', 's')).toMatch(/fits|valid/)
})

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
test.each([packageManager, 'yarn@1.22.22'])('%s installs both in an empty project, where they run as ES module and CommonJS', manager => {
  const project = join(folder, manager.replace('@', '-'))
  mkdirSync(project)
  // The command line takes its SDK from the registry, which has none of this version before the release.
  const fields = { pnpm: { overrides: { '@ponte/sdk': `file:${tarball}` } }, resolutions: { '@ponte/sdk': `file:${tarball}` } }
  writeFileSync(join(project, 'package.json'), JSON.stringify(fields))
  writeFileSync(join(project, 'pnpm-workspace.yaml'), `packages: []\noverrides: { '@ponte/sdk': 'file:${tarball}' }\n`)
  const add = manager.startsWith('pnpm') ? ['add', '--workspace-root'] : ['add', '--silent']
  execFileSync('npx', ['--yes', manager, ...add, `file:${tarball}`, `file:${commandLine}`], { cwd: project, stdio: 'pipe' })
  for (const shop of ['shop.mjs', 'shop.cjs']) {
    copyFileSync(join(__dirname, 'shops', shop), join(project, shop))
    expect(JSON.parse(execFileSync(process.execPath, [shop], { cwd: project, encoding: 'utf8' }))[0]).toBe('order.expired')
  }
  const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'))
  expect(execFileSync(join(project, 'node_modules/.bin/ponte'), ['--version'], { encoding: 'utf8' }).trim()).toBe(version)
})

test('public judges find nothing wrong with manifests and types, under every module resolution', () => {
  const judge = (packed: string, unpacked: string) =>
    JSON.parse(execFileSync(process.execPath, [join(sdk, 'scripts/shape.mjs'), packed, unpacked], { encoding: 'utf8' }))
  expect(judge(tarball, installed)).toEqual({ types: [], manifest: [] })
  const unpacked = join(folder, 'unpacked')
  mkdirSync(unpacked)
  execFileSync('tar', ['-xzf', commandLine, '-C', unpacked])
  expect(judge(commandLine, join(unpacked, 'package'))).toEqual({ types: [], manifest: [] })
})

test.each([
  ['with the types of Node', { lib: ['lib.es2022.d.ts'], types: ['node'] }],
  ['with those of browsers and Workers', { lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], types: [] }],
])('a strict project compiles against it %s', (_, options) => {
  const source = join(folder, 'shop.ts')
  writeFileSync(
    source,
    `import { Ponte, verifyWebhook } from '@ponte/sdk'
import { webhookHandler } from '@ponte/sdk/next'
export const POST: (request: Request) => Promise<Response> = webhookHandler({ secret: 's', on: { 'order.paid': data => data.tx_hash.length } })
export const ponte = new Ponte('sk', { baseUrl: 'https://pay.example.com', fetch })
export const event = verifyWebhook('{}', null, ['old', 'new'])`,
  )
  const compiled = ts.createProgram([source], {
    ...options,
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, strict: true, exactOptionalPropertyTypes: true, noEmit: true },
    typeRoots: [join(root, 'node_modules/@types')],
  })
  const faults = ts.getPreEmitDiagnostics(compiled).filter(({ file }) => !file?.fileName.includes('@types'))
  expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
})

test('all of it is less than 15 kB compressed and keccak less than 2 kB, and the README is within 5 % of both', () => {
  const output = execFileSync(process.execPath, [join(sdk, 'scripts/sizes.mjs'), '--json'], { encoding: 'utf8' })
  const sizes: Record<string, { minified: number; compressed: number }> = JSON.parse(output)
  expect(sizes['@ponte/sdk']?.compressed).toBeLessThan(15_000)
  expect(sizes.keccak?.minified).toBeLessThan(2_000)
  const readme = readFileSync(join(sdk, 'README.md'), 'utf8')
  const shown = [...readme.matchAll(/^\| `([^`]+)` \| ([\d.]+) kB \| ([\d.]+) kB \|$/gm)]
  expect(shown.map(([, name]) => name)).toEqual(Object.keys(sizes))
  for (const [, name = '', minified, compressed] of shown) {
    const is = sizes[name] ?? { minified: 0, compressed: 0 }
    // Printed with one decimal.
    const near = (kilobytes: number, bytes: number) => Math.abs(kilobytes * 1_000 - bytes) <= bytes * 0.05 + 50
    expect([name, near(Number(minified), is.minified), near(Number(compressed), is.compressed)]).toEqual([name, true, true])
  }
})

test('every export is described', () => {
  const entries = ['index', 'express', 'fetch', 'next'].map(name => join(installed, `lib/esm/${name}.d.ts`))
  const compiled = ts.createProgram(entries, { module: ts.ModuleKind.ES2022, moduleResolution: ts.ModuleResolutionKind.Bundler })
  const checker = compiled.getTypeChecker()
  const bare = entries.flatMap(entry => {
    const source = compiled.getSourceFile(entry)
    const symbol = source && checker.getSymbolAtLocation(source)
    const found = symbol ? checker.getExportsOfModule(symbol) : []
    expect(found.length).toBeGreaterThan(0)
    return found.filter(one => {
      const target = one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one
      return target.getDocumentationComment(checker).length === 0 && one.getDocumentationComment(checker).length === 0
    })
  })
  expect(bare.map(({ name }) => name)).toEqual([])
})
