import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The files of the repository, by their paths from its root: what git tracks or would add. */
export function filesOf(root: string): string[] {
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 })
  return stdout.split('\n').filter(path => path !== '' && existsSync(join(root, path)))
}
