import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lockFolder } from './lock.mjs'
import { runOnPinnedNode } from './runtime.mjs'
import { bringUpToDate, fail, hasSucceeded } from './steps.mjs'

export const root = realpathSync(join(dirname(fileURLToPath(import.meta.url)), '../..'))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/**
 * Brings node_modules, the generated clients and dist/ up to date with the sources. Does nothing, quickly, when they are. `toRun` leaves out what only
 * checks, tests and benchmarks need: the devDependencies.
 */
export async function setUp({ toRun = false } = {}) {
  await runOnPinnedNode()
  const unlock = await lockFolder(root)
  try {
    await bringUpToDate('Installing packages', [packages(toRun)])
    await bringUpToDate('Generating database clients and the reference of the SDK', [...databaseClients(), sdkReference()])
    await bringUpToDate('Compiling', [compilation()])
    await bringUpToDate('Building the pages', [...pages(), ...sdkTypes()])
  } finally {
    unlock()
  }
}

function packages(toRun) {
  // A full installation is kept up to date in full: a start between two test runs must not remove half of it.
  const inPart = toRun && !hasSucceeded('install')
  const folders = workspaces().filter(folder => !inPart || manifestOf(folder).dependencies)
  return {
    name: inPart ? 'install-to-run' : 'install',
    inputs: ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...workspaces().map(folder => join(folder, 'package.json'))],
    outputs: ['node_modules/.modules.yaml', ...folders.map(folder => join(folder, 'node_modules'))],
    command: [
      'npx',
      '--yes',
      manifest.packageManager,
      'install',
      '--frozen-lockfile',
      '--config.confirmModulesPurge=false',
      ...(inPart ? ['--prod'] : []),
    ],
    advice: `See that this machine reaches its npm registry. If pnpm-lock.yaml is behind, run: npx ${manifest.packageManager} install`,
  }
}

function databaseClients() {
  const folders = workspaces().filter(folder => existsSync(join(root, folder, 'prisma/schema.prisma')))
  return folders.map(folder => ({
    name: `client-of-${folder.replace('/', '-')}`,
    inputs: [`${folder}/prisma/schema.prisma`, `${folder}/prisma.config.ts`, 'package.json'],
    outputs: [`${folder}/src/generated`],
    command: [process.execPath, join(root, 'node_modules/prisma/build/index.js'), 'generate'],
    folder,
    // Generating needs no schema engine, but Prisma downloads one unless it is given some executable. Nor shall it phone home.
    env: { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: '1', CHECKPOINT_DISABLE: '1' },
    advice: `Correct ${folder}/prisma/schema.prisma and try again.`,
  }))
}

function sdkReference() {
  return {
    name: 'sdk-reference',
    inputs: ['pnpm-lock.yaml', 'packages/sdk/scripts/reference.mjs', ...filesIn('packages/sdk/src')],
    outputs: ['services/api-gateway/src/docs/guide/artifacts/sdk-reference.ts'],
    command: [process.execPath, join(root, 'packages/sdk/scripts/reference.mjs')],
    advice: 'The docstrings of packages/sdk could not be read; see above.',
  }
}

function compilation() {
  const folders = workspaces().filter(folder => existsSync(join(root, folder, 'src/index.ts')))
  const sources = folders.flatMap(folder => filesIn(`${folder}/src`)).filter(file => !file.endsWith('.test.ts'))
  return {
    name: 'compile',
    inputs: ['package.json', 'scripts/develop/compile.mjs', ...sources],
    outputs: [
      ...folders.map(folder => `${folder}/${folder === 'packages/sdk' ? 'lib/esm' : 'dist'}/index.js`),
      `${SDK_ARTIFACTS}/operations.ts`,
    ],
    command: [process.execPath, join(root, 'scripts/develop/compile.mjs'), ...folders],
    advice: 'Correct the errors above and try again.',
  }
}

function pages() {
  return workspaces()
    .filter(isPages)
    .map(folder => ({
      name: 'pages',
      inputs: ['pnpm-lock.yaml', ...filesIn(folder)],
      outputs: [`${folder}/dist`],
      command: ['npm', 'run', '--silent', 'build'],
      folder,
      advice: 'Correct the errors above and try again.',
    }))
}

/** Types that only checks and the published package need, where their generator is installed. */
function sdkTypes() {
  if (!existsSync(join(root, 'tests/node_modules/openapi-typescript'))) return []
  return [
    {
      name: 'sdk-types',
      inputs: [
        'pnpm-lock.yaml',
        'tests/tree/sdk-types.mjs',
        ...filesIn('packages/contracts/src'),
        ...filesIn('services/api-gateway/src/openapi'),
      ],
      outputs: [`${SDK_ARTIFACTS}/openapi.ts`],
      command: [process.execPath, join(root, 'tests/tree/sdk-types.mjs')],
      advice: 'The types of packages/sdk could not be made of the OpenAPI document; see above.',
    },
  ]
}

const manifestOf = folder => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

const SDK_ARTIFACTS = 'packages/sdk/src/artifacts'
const isPages = folder => folder === 'packages/web'

const workspaces = () =>
  ['packages', 'services']
    .flatMap(parent => readdirSync(join(root, parent)).map(name => `${parent}/${name}`))
    .concat('tests')
    .filter(folder => existsSync(join(root, folder, 'package.json')))

/** Paths relative to the root, of what people and generators wrote. */
function filesIn(folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const path = `${folder}/${entry.name}`
    if (['node_modules', 'dist'].includes(entry.name) || path === SDK_ARTIFACTS) return []
    return entry.isDirectory() ? filesIn(path) : [path]
  })
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await setUp({ toRun: process.argv.includes('--to-run') }).catch(fail)
}
