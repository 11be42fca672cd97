import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { lockFolder } from './lock.mjs'
import { run, StepError } from './steps.mjs'

const root = join(import.meta.dirname, '../..')
/** A manifest and its lockfile for npm: one Node for each platform, with the digests of what the registry has to deliver. */
const manifests = join(import.meta.dirname, 'node')
const files = ['package.json', 'package-lock.json']

const readJson = path => JSON.parse(readFileSync(path, 'utf8'))
const versionOf = text => text.match(/\d+/g).map(Number)
/** npm, pnpm and Prisma of today start from this one on. */
const OLDEST = [20, 19]

/**
 * Runs the calling script once more under the pinned Node when this one is older than `engines` asks for, and ends with it: a caller goes on only
 * where it may stay. Installs that Node first, once for each user.
 */
export async function runOnPinnedNode() {
  const [wanted] = versionOf(readJson(join(root, 'package.json')).engines.node)
  const [major, minor] = versionOf(process.version)
  if (major >= wanted) return endWithParent()
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    throw new StepError(
      `This is Node ${process.version}. Ponte starts from ${OLDEST.join('.')} on, and brings Node ${wanted} itself; install one of them.`,
    )
  const { node, version } = await pinnedNode(wanted)
  console.error(`Node ${process.version.slice(1)} is too old to run Ponte: Node ${version} of the npm registry does (${dirname(node)}).`)
  await rerun(node)
}

async function pinnedNode(wanted) {
  const { platform, arch } = process
  const names = [`node-${platform}-${arch}`, `node-bin-${platform}-${arch}`]
  const { packages } = readJson(join(manifests, 'package-lock.json'))
  const name = names.find(each => packages[`node_modules/${each}`])
  if (!name) throw new StepError(`The npm registry has no Node ${wanted} for ${platform} on ${arch}. Install it from https://nodejs.org.`)
  const { version, integrity } = packages[`node_modules/${name}`]
  const digest = createHash('sha256').update(integrity).digest('hex').slice(0, 12)
  const folder = join(cacheFolder(), `node-${version}-${digest}`)
  const node = join(folder, 'node_modules', name, 'bin/node')
  if (!existsSync(node)) await install(folder, node, version)
  return { node, version }
}

/** Shared by all clones of a user; where the home cannot be written, each has its own. */
function cacheFolder() {
  const shared = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'ponte')
  try {
    mkdirSync(shared, { recursive: true })
    accessSync(shared, constants.W_OK)
    return shared
  } catch {
    return join(root, 'node_modules/.cache/ponte')
  }
}

async function install(folder, node, version) {
  mkdirSync(dirname(folder), { recursive: true })
  const unlock = await lockFolder(folder)
  try {
    if (existsSync(node)) return
    console.error(`  Installing Node ${version} …`)
    const partial = `${folder}.partial`
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial)
    for (const file of files) copyFileSync(join(manifests, file), join(partial, file))
    const command = ['npm', 'ci', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund']
    const { code, output } = await run({ command, folder: partial })
    if (code !== 0)
      throw new StepError(`${output.trim()}\n\nSee that this machine reaches its npm registry, or install Node ${version} yourself.`)
    rmSync(folder, { recursive: true, force: true })
    // Complete under this name or not there at all, however an installation ends.
    renameSync(partial, folder)
  } finally {
    unlock()
  }
}

async function rerun(node) {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], {
    // A group of its own gets each signal once, from here; the channel tells it of our end when we cannot.
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, NODE: node, npm_node_execpath: node },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  const [code, signal] = await once(child, 'exit')
  if (signal) {
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  }
  process.exit(code ?? 1)
}

function endWithParent() {
  if (!process.channel) return
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}
