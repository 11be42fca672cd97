import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(__dirname, '../../..')

it('a managed PostgreSQL takes the place of the operator`s, as its component states', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-managed-'))
  try {
    const home = join(folder, 'infra/kubernetes')
    cpSync(join(root, 'infra'), join(folder, 'infra'), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const file = join(home, 'overlays/production/kustomization.yaml')
    const without = readFileSync(file, 'utf8').replace(/^ {2}- (?:postgres|backup)\.yaml\n/gm, '')
    writeFileSync(file, `${without}components: [../../components/managed-postgres]\n`)
    const built = spawnSync(process.execPath, [join(home, 'build-overlay.mjs'), 'production'], { encoding: 'utf8', maxBuffer: 64 << 20 })
    expect([built.status, built.stderr]).toEqual([0, ''])
    const kinds = [...built.stdout.matchAll(/^kind: (\w+)\nmetadata:[\s\S]*?^ {2}name: ([\w-]+)/gm)].map(
      ([, kind, name]) => `${kind} ${name}`,
    )
    expect(kinds).toEqual(expect.arrayContaining(['NetworkPolicy managed-postgres', 'Deployment orders']))
    expect(kinds.filter(each => /^(Cluster|Database|ScheduledBackup|ObjectStore) /.test(each))).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
