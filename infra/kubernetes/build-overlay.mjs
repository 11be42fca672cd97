import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const folder = join(import.meta.dirname, 'overlays')
export const overlays = readdirSync(folder)

/** The cluster's view of `kubectl apply -k`, by the kustomize that is installed with the other packages. */
export function buildOverlay(name) {
  const kustomize = createRequire(import.meta.url).resolve('kustomize/run.js')
  const built = spawnSync(process.execPath, [kustomize, 'build', join(folder, name)], { encoding: 'utf8', maxBuffer: 64 << 20 })
  if (built.status !== 0) throw new Error(`The overlay ${name} does not build:\n${built.stderr}`)
  return built.stdout
}

if (process.argv[1] === import.meta.filename) process.stdout.write(buildOverlay(process.argv[2]))
