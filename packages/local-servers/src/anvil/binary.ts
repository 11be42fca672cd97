import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const ARCHITECTURES: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** anvil's executable. Its npm package's own launcher would stand between this process and the one that it must be able to stop. */
export function findAnvil(): string {
  const platform = `@foundry-rs/anvil-${process.platform}-${ARCHITECTURES[process.arch] ?? process.arch}`
  try {
    const launcher = createRequire(require.resolve('@foundry-rs/anvil/package.json'))
    return join(dirname(launcher.resolve(`${platform}/package.json`)), 'bin/anvil')
  } catch (cause) {
    throw new Error(`There is no anvil for this machine (${platform} is not installed).`, { cause })
  }
}
