// Runs Foundry's forge on the contracts, offline: `node scripts/forge.mjs test`. Its compiler is npm's (scripts/solc.mjs).
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }

/** The executable itself: npm's launcher would stand between us and the process. */
function forgeBinary() {
  const { platform, arch } = process
  const launcher = createRequire(import.meta.url).resolve('@foundry-rs/forge/package.json')
  const manifest = createRequire(launcher).resolve(`@foundry-rs/forge-${platform}-${ARCHITECTURES[arch] ?? arch}/package.json`)
  return join(dirname(manifest), 'bin', platform === 'win32' ? 'forge.exe' : 'forge')
}

/** Resolves with the exit code and everything printed. `folder` has the foundry.toml. */
export function forge(args, { folder = root, inherit = false, profile = process.env.FOUNDRY_PROFILE ?? 'default' } = {}) {
  return new Promise((resolve, reject) => {
    const output = inherit ? 'inherit' : 'pipe'
    const env = { ...process.env, FOUNDRY_PROFILE: profile }
    const child = spawn(forgeBinary(), args, { cwd: folder, env, stdio: ['ignore', output, output] })
    let printed = ''
    const collect = chunk => {
      printed += chunk
    }
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', collect)
    child.on('error', reject)
    child.on('close', code => resolve({ code, printed }))
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await forge(process.argv.slice(2), { inherit: true })).code ?? 1
