import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(__dirname, '../..')
const execute = promisify(execFile)

/** The built checkout of another commit, in a clone of its own. Kept for the next run: to install and compile takes minutes. */
export async function buildRelease(commit: string): Promise<string> {
  const folder = join(tmpdir(), `ponte-before-${commit}`)
  if (!existsSync(folder)) await execute('git', ['clone', '--quiet', '--no-checkout', root, folder])
  await execute('git', ['checkout', '--quiet', commit], { cwd: folder })
  await execute('npm', ['run', '--silent', 'build'], { cwd: folder, env: { ...process.env, NODE_ENV: undefined }, maxBuffer: 2 ** 26 })
  return folder
}
