import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

// The manifests of SDK and command line as a release publishes them, written over those of a checkout: node packages/sdk/scripts/release.mjs v0.2.0 owner/name [FOLDER OF PACKAGES].
// The address is that of the repository that releases, which npm's provenance compares; a clone has none.

const [tag = '', repository = '', folder = join(dirname(fileURLToPath(import.meta.url)), '../..')] = process.argv.slice(2)
const version = /^v(\d+\.\d+\.\d+(?:-[0-9a-z.]+)?)$/.exec(tag)?.[1]
if (!version) refuse(`${tag} is no tag of a version, such as v0.2.0.`)
if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) refuse(`${repository} is no owner/name of a repository.`)

const names = ['sdk', 'cli']
for (const name of names) {
  const changes = readFileSync(join(folder, name, 'CHANGELOG.md'), 'utf8').split('\n')
  if (!changes.includes(`## ${version}`)) refuse(`packages/${name}/CHANGELOG.md has no section ${version}.`)
}
for (const name of names) {
  const file = resolve(folder, name, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  const web = `https://github.com/${repository}`
  const released = {
    ...manifest,
    version,
    repository: { type: 'git', url: `git+${web}.git`, directory: `packages/${name}` },
    homepage: `${web}/tree/${tag}/packages/${name}#readme`,
    bugs: `${web}/issues`,
  }
  if (manifest.dependencies?.['@ponte/sdk']) released.dependencies = { ...manifest.dependencies, '@ponte/sdk': version }
  writeFileSync(file, `${JSON.stringify(released, null, 2)}\n`)
}

function refuse(reason) {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}
