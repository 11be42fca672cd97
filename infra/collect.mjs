import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Copies one service out of the built repository: `manifests` to install its production packages from, `built` to run. Both keep the
// repository's places, because a service finds its migrations and the pages relative to itself.
const [service, target] = process.argv.slice(2)
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const home = `services/${service}`
if (!service || !target || !existsSync(join(root, home, 'package.json'))) {
  console.error('Name the service and where to: node infra/collect.mjs orders /app. In a Dockerfile: --build-arg SERVICE=orders.')
  process.exit(1)
}

const workspaces = ['packages', 'services']
  .flatMap(parent => readdirSync(join(root, parent)).map(name => `${parent}/${name}`))
  .concat('tests')
for (const path of ['pnpm-workspace.yaml', ...workspaces.map(folder => `${folder}/package.json`)]) copy(path, 'manifests')
// Without what only builds the workspace, which pnpm would install for any service.
const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
writeFileSync(join(target, 'manifests/package.json'), JSON.stringify({ private: true, packageManager }))
const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
writeFileSync(join(target, 'manifests/pnpm-lock.yaml'), lockfile.replace(/(?<=^importers:\n\n {2}\.:)\n(?: {4}.*\n)+/m, ' {}\n'))

const needed = dependenciesOf(home)
// The gateway serves the pages; it finds them beside itself, not by a dependency.
if (needed.has('services/api-gateway')) needed.add('packages/web')
for (const folder of needed) {
  copy(`${folder}/dist`, 'built')
  copy(`${folder}/prisma/migrations`, 'built')
}
// A service that can be started in more than one way gets it from its first argument: `relayer`.
const programs = ['relayer'].filter(name => existsSync(join(root, home, `dist/${name}.js`)))
writeFileSync(
  join(target, 'built/entry.cjs'),
  `const program = ${JSON.stringify(programs)}.find(name => name === process.argv[2])
if (program) process.argv.splice(2, 1)
require(\`./${home}/dist/\${program ?? 'main'}.js\`)
`,
)

/** The workspaces that one needs in production, itself included. */
function dependenciesOf(folder, found = new Set()) {
  found.add(folder)
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    const path = workspaces.find(each => name === `@ponte/${each.split('/').at(-1)}`)
    if (path && !found.has(path)) dependenciesOf(path, found)
  }
  return found
}

function copy(path, part) {
  if (!existsSync(join(root, path))) return
  mkdirSync(join(target, part, dirname(path)), { recursive: true })
  cpSync(join(root, path), join(target, part, path), { recursive: true })
}
