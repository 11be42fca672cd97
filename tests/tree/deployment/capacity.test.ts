import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

test('docs/capacity.md follows from what docs/performance.md measured', () => {
  const root = join(__dirname, '../../..')
  const { status, stderr } = spawnSync(process.execPath, ['scripts/operate/capacity.mjs', '--check'], { cwd: root, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})
