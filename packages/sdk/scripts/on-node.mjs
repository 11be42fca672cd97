import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The packed SDK, installed in empty projects on other versions of Node, which come from the registry: node packages/sdk/scripts/on-node.mjs [18 20 22 24].

const sdk = join(dirname(fileURLToPath(import.meta.url)), '..')
const shops = join(sdk, 'test/shops')
const versions = process.argv.length > 2 ? process.argv.slice(2) : ['18', '20', '22', '24']
const expected = JSON.stringify(['order.expired', 200, 'raw_body_required', 'function'])

const folder = mkdtempSync(join(tmpdir(), 'ponte-sdk-'))
try {
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: sdk, stdio: 'pipe' })
  const tarball = join(
    folder,
    readdirSync(folder).find(name => name.endsWith('.tgz')),
  )
  for (const version of versions) {
    const project = join(folder, version)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{}')
    execFileSync('npm', ['install', '--no-audit', '--no-fund', tarball, `node@${version}`], { cwd: project, stdio: 'pipe' })
    const node = join(project, 'node_modules/node/bin/node')
    const name = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    for (const shop of readdirSync(shops)) {
      copyFileSync(join(shops, shop), join(project, shop))
      const output = execFileSync(node, [shop], { cwd: project, encoding: 'utf8' }).trim()
      const holds = name.startsWith(`v${version}`) && output === expected
      console.log(`${holds ? '✓' : '✗'} ${shop} on Node ${name}${holds ? '' : `: ${output}`}`)
      if (!holds) process.exitCode = 1
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
