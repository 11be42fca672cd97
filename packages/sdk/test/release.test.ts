import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const packages = join(__dirname, '../..')
const names = ['sdk', 'cli']

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-release-'))
  for (const name of names) {
    mkdirSync(join(folder, name))
    cpSync(join(packages, name, 'package.json'), join(folder, name, 'package.json'))
    writeFileSync(join(folder, name, 'CHANGELOG.md'), `# @ponte/${name}\n\n## 7.1.0\n\n- Something.\n\n## 0.1.0\n`)
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const release = (...args: string[]) =>
  spawnSync(process.execPath, [join(__dirname, '../scripts/release.mjs'), ...args, folder], { encoding: 'utf8' })
const manifests = () => names.map(name => readFileSync(join(folder, name, 'package.json'), 'utf8'))

test('a release has the version of its tag, the address of its repository, and a command line on the same SDK', () => {
  expect(release('v7.1.0', 'someone/ponte')).toMatchObject({ status: 0, stderr: '' })
  const [sdk, cli] = manifests().map(text => JSON.parse(text))
  expect([sdk.version, cli.version, cli.dependencies['@ponte/sdk']]).toEqual(['7.1.0', '7.1.0', '7.1.0'])
  expect(sdk.dependencies).toBeUndefined()
  expect(cli).toMatchObject({
    repository: { type: 'git', url: 'git+https://github.com/someone/ponte.git', directory: 'packages/cli' },
    homepage: 'https://github.com/someone/ponte/tree/v7.1.0/packages/cli#readme',
    bugs: 'https://github.com/someone/ponte/issues',
  })
})

test.each([
  ['without its section in each changelog', 'v7.2.0', 'someone/ponte', 'has no section 7.2.0'],
  ['of a tag that is no version', 'latest', 'someone/ponte', 'no tag of a version'],
  ['of no repository', 'v7.1.0', 'someone', 'no owner/name'],
])('a release %s is refused, and changes nothing', (_, tag, repository, reason) => {
  const before = manifests()
  expect(release(tag, repository)).toMatchObject({ status: 1, stderr: expect.stringContaining(reason) })
  expect(manifests()).toEqual(before)
})

test('a release without a section in the changelog of one alone is refused', () => {
  writeFileSync(join(folder, 'cli/CHANGELOG.md'), '# @ponte/cli\n\n## 0.1.0\n')
  const before = manifests()
  expect(release('v7.1.0', 'someone/ponte').status).toBe(1)
  expect(manifests()).toEqual(before)
})
