import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const ARCHITECTURES: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

function resolveFrom(folder: string, request: string): string | undefined {
  try {
    return createRequire(join(folder, 'from-here.js')).resolve(request)
  } catch {
    return undefined
  }
}

/**
 * Finds anvil's executable in the npm package `@foundry-rs/anvil`, as seen from this package, the program that runs or the
 * working directory. Its own launcher is not used: it would stand between us and the process we must be able to stop.
 */
export function findAnvil(): string {
  const { platform, arch } = process
  const platformPackage = `@foundry-rs/anvil-${platform}-${ARCHITECTURES[arch] ?? arch}`
  const executable = platform === 'win32' ? 'anvil.exe' : 'anvil'
  for (const folder of [__dirname, dirname(process.argv[1] ?? __filename), process.cwd()]) {
    const launcher = resolveFrom(folder, '@foundry-rs/anvil/package.json')
    const manifest = launcher === undefined ? undefined : resolveFrom(dirname(launcher), `${platformPackage}/package.json`)
    if (manifest === undefined) continue
    const binary = join(dirname(manifest), 'bin', executable)
    if (existsSync(binary)) return binary
  }
  throw new Error(`anvil was not found: the npm packages @foundry-rs/anvil and ${platformPackage} must be installed, or name a binary`)
}
